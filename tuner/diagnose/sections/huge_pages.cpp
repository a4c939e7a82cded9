// The section `huge_pages`: the cost of small pages where the TLB does not reach all of them.
#include <cstdio>
#include <fstream>
#include <memory>
#include <sys/mman.h>

#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"
#include "timing/fresh_memory.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kLargest = std::size_t{32} << 20;
constexpr std::size_t kScattered = 1024; ///< Bytes of a scattered copy.
constexpr std::size_t kSlots = 4096;     ///< The number of scattered copies, a power of 2.

/// They are a page and a line apart: each in a page of its own, and spread over the sets of a
/// cache.
constexpr std::size_t kSlotBytes = 4096 + 64;
static_assert(kSlots * kSlotBytes <= kLargest);

/// How many bytes of the mapping that `at` lies in are on transparent huge pages; 0 where the
/// kernel does not say.
std::size_t huge_bytes(const char* at) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    std::ifstream smaps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t from = 0, to = 0;
        std::size_t kilobytes = 0;
        if (std::sscanf(line.c_str(), "%zx-%zx ", &from, &to) == 2) {
            inside = from <= address && address < to;
        } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &kilobytes) == 1) {
            return kilobytes * 1024;
        }
    }
    return 0;
}

/// Copies from slot to slot in a scattered order. Each sample goes on where the one before stopped:
/// else all would go to the same few slots.
CopyLoop scattered(char* destination, const char* source) {
    return [=, next = std::make_shared<std::size_t>(0)](const TimedCopy& copy, std::size_t calls,
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
    const std::string question = "what do buffers on pages of " + format_size(page_size()) +
                                 " cost against buffers on huge pages?";
    const std::string& setting = context.machine.huge_pages;
    if (setting != "always" && setting != "madvise") {
        return {.question = question,
                .skipped = "huge pages are " +
                           (setting.empty() ? "unknown to this kernel" : "set to " + setting) +
                           " (/sys/kernel/mm/transparent_hugepage/enabled)"};
    }
    constexpr std::size_t side = kLargest + kRoaming + kPhase;
    const Arena huge(side);
    if (huge_bytes(huge.source()) < 2 * kLargest) {
        return {.question = question,
                .skipped = "the kernel granted too few huge pages: memory may be fragmented"};
    }
    const FreshMemory small(2 * side);
    madvise(small.begin(), small.bytes(), MADV_NOHUGEPAGE);
    fill_with_data(small.begin(), small.bytes());
    const auto group = [&](const std::string& name, std::size_t size, const auto& loop) -> Group {
        return {name,
                size,
                {{"huge pages",
                  "huge pages",
                  {{"pages", "huge"}},
                  loop(huge.destination() + kPhase, huge.source())},
                 {"small pages",
                  "huge pages",
                  {{"pages", "small"}},
                  loop(small.begin() + side + kPhase, small.begin())}}};
    };
    std::vector<Group> groups;
    for (const std::size_t size : {kLargest / 16, kLargest / 4, kLargest}) {
        groups.push_back(group(format_size(size), size, [&](char* to, const char* from) {
            return repeated(to, from, size);
        }));
    }
    groups.push_back(group(format_size(kScattered) + " scattered", kScattered, scattered));
    return compared(
        context, question, groups,
        {"scattered: " + std::to_string(kSlots) + " buffers a side, each in a page of its own"});
}

} // namespace asterope::diagnosis
