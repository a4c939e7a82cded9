// What small pages cost against huge ones, where the TLB does not reach all of the buffers.
#include <algorithm>
#include <memory>

#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/mapping.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kLargest = std::size_t{32} << 20;
constexpr std::size_t kScattered = 1024; ///< bytes of a scattered copy
constexpr std::size_t kSlots = 4096;     ///< of scattered copies, a power of 2
/// A page and a line apart: each in a page of its own, and not all in the same sets of a cache.
constexpr std::size_t kSlotBytes = 4096 + 64;
static_assert(kSlots * kSlotBytes <= kLargest);

/// Copies from slot to slot in a scattered order. Each trial goes on where the one before stopped:
/// else all would go to the same few slots.
Run scattered(char* destination, const char* source) {
    return [=, next = std::make_shared<std::size_t>(0)](const Copy& copy, std::size_t calls,
                                                        std::uint64_t) {
        std::size_t slot = *next;
        for (std::size_t i = 0; i < calls; ++i) {
            slot = (slot + kSlots / 2 + kSlots / 8 - 1) % kSlots; // odd steps: visits every slot
            copy(destination + slot * kSlotBytes, source + slot * kSlotBytes, kScattered);
        }
        *next = slot;
    };
}

} // namespace

Section huge_pages(const Context& context) {
    Section section;
    section.question = "what do buffers on pages of 4 KiB cost against buffers on huge pages?";
    const std::string& setting = context.machine.huge_pages;
    if (setting != "always" && setting != "madvise") {
        section.skipped = "huge pages are " +
                          (setting.empty() ? "unknown to this kernel" : "set to " + setting) +
                          " (/sys/kernel/mm/transparent_hugepage/enabled)";
        return section;
    }
    const std::size_t side = kLargest + kRoaming + kPhase;
    const Mapping huge_source(side, Pages::huge), huge_destination(side, Pages::huge);
    const Mapping small_source(side, Pages::small), small_destination(side, Pages::small);
    if (std::min(huge_source.huge_bytes(), huge_destination.huge_bytes()) < kLargest) {
        section.skipped = "the kernel granted too few huge pages: memory may be fragmented";
        return section;
    }
    const std::string on_huge = "huge pages", on_small = "small pages";
    const auto conditions =
        [&](const std::function<Run(char*, const char*)>& run) -> std::vector<Condition> {
        return {{on_huge,
                 on_huge,
                 {{"pages", "huge"}},
                 run(huge_destination.data() + kPhase, huge_source.data())},
                {on_small,
                 on_huge,
                 {{"pages", "small"}},
                 run(small_destination.data() + kPhase, small_source.data())}};
    };
    std::vector<Group> groups;
    for (const std::size_t size : {kLargest / 16, kLargest / 4, kLargest}) {
        groups.push_back({format_size(size), size, conditions([&](char* to, const char* from) {
                              return repeated(to, from, size);
                          })});
    }
    groups.push_back({format_size(kScattered) + " scattered", kScattered, conditions(scattered)});
    section.notes.push_back("scattered: " + std::to_string(kSlots) +
                            " buffers a side, each in a page of its own");
    fill(section, compare(groups, context));
    return section;
}

} // namespace asterope::diagnosis
