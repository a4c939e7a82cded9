// The section `store_forwarding`: the cost of reading a copy's head or tail right after it.
#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"
#include "machine/cpu.hpp"

namespace asterope::diagnosis {

namespace {

/// Copies and then loads `bytes` at `at` of the copy. The next copy's source address depends on the
/// loaded value, so that each call waits for the one before. 0 bytes: copies alone.
CopyLoop copied_and_read(const Arena& arena, std::size_t size, std::size_t at, int bytes) {
    return [=, &arena](const TimedCopy& copy, std::size_t calls, std::uint64_t round) {
        char* destination = arena.destination() + kPhase + roam(round);
        const char* source = arena.source() + roam(round);
        const Misalignment past = asterope::misalignment(round);
        destination += past.destination;
        source += past.source;
        std::size_t zero = 0;
        for (std::size_t i = 0; i < calls; ++i) {
            copy(destination, source + zero, size);
            if (bytes) zero = zero_after_load(destination + at, bytes);
        }
    };
}

} // namespace

Section store_forwarding(const Context& context) {
    Section section;
    section.question = "what does it cost to wait for a load from the copy's head or tail, right "
                       "after each copy?";
    const int widest = widest_load();
    const std::string alone = "the copy alone";
    std::vector<Group> groups;
    for (const std::size_t size :
         {std::size_t{32}, std::size_t{128}, std::size_t{512}, std::size_t{4096}}) {
        Group group{format_size(size), size, {}};
        group.conditions.push_back(
            {alone, alone, {{"read", "nothing"}}, copied_and_read(context.arena, size, 0, 0)});
        for (const bool tail : {false, true}) {
            for (const int bytes : {1, 8, 16, 32}) {
                if (bytes > widest) continue;
                const std::string where = tail ? "tail" : "head";
                const std::size_t at = tail ? size - static_cast<std::size_t>(bytes) : 0;
                group.conditions.push_back({where + ", " + std::to_string(bytes) + " B",
                                            alone,
                                            {{"read", where}, {"bytes", bytes}},
                                            copied_and_read(context.arena, size, at, bytes)});
            }
        }
        groups.push_back(std::move(group));
    }
    if (widest < 32) section.notes.push_back("no loads of 32 B: the CPU lacks them");
    section.notes.push_back("a load waits for its copy and the next copy for the load; copies "
                            "alone overlap, so some slowdown is the waiting itself");
    fill(section, compare(groups, context));
    return section;
}

} // namespace asterope::diagnosis
