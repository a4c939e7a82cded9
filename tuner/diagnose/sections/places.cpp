// The sections of where small copies begin, of what they copy, and of who reads the copy next.
#include <cstring>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"
#include "machine/cpu.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kPlacedSizes[] = {512, 4 << 10, 64 << 10};

constexpr std::size_t kFar = 2048; ///< half a page: no load is near a store

std::string label_of(std::size_t offset) {
    return offset <= kFar ? '+' + std::to_string(offset) + " B"
                          : '-' + std::to_string(4096 - offset) + " B";
}

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

Section misalignment(const Context& context) {
    const std::vector<std::size_t> grid = {1, 4, 8, 16, 31, 32, 48, 63};
    const std::string aligned = "both at a line";
    std::vector<Group> groups;
    for (const std::size_t size : kPlacedSizes) {
        Group& group = groups.emplace_back(Group{format_size(size), size, {}});
        const auto add = [&](const std::string& label, std::size_t source, std::size_t destination,
                             bool in_table) {
            // Buffers are half a page apart, so that they do not alias at any misalignment.
            group.conditions.push_back({label,
                                        aligned,
                                        {{"source", source}, {"destination", destination}},
                                        repeated(context.arena.destination() + kPhase + destination,
                                                 context.arena.source() + source, size),
                                        in_table});
        };
        add(aligned, 0, 0, true);
        for (const std::string side : {"source", "destination", "both"}) {
            for (std::size_t past = 1; past < 64; ++past) {
                add(side + " +" + std::to_string(past), side == "destination" ? 0 : past,
                    side == "source" ? 0 : past, contains(grid, past));
            }
        }
    }
    return compared(context,
                    "what does it cost if a source, a destination or both begin some bytes past a "
                    "cache line?",
                    groups);
}

/// Where both buffers begin at nearly the same page offset, the CPU mistakes loads for loads of
/// bytes that a store in flight writes.
Section aliasing(const Context& context) {
    const std::vector<std::size_t> grid = {0,    1,    8,    16,   32,   48,   63,
                                           4032, 4033, 4048, 4064, 4080, 4088, 4095};
    std::vector<Group> groups;
    for (const std::size_t size : kPlacedSizes) {
        Group& group = groups.emplace_back(Group{format_size(size), size, {}});
        // Each is compared with the same misalignment of the destination half a page away. The
        // difference is due to the page offset.
        const auto far_label = [](std::size_t past) {
            return "half a page" + (past ? " and " + std::to_string(past) + " B" : "");
        };
        const auto add = [&](const std::string& label, std::size_t offset, bool in_table) {
            group.conditions.push_back(
                {label,
                 far_label(offset % 64),
                 {{"offset", offset}},
                 repeated(context.arena.destination() + offset, context.arena.source(), size),
                 in_table});
        };
        for (std::size_t past = 0; past < 64; ++past) add(far_label(past), kFar + past, past == 0);
        for (std::size_t offset = 0; offset < 4096; ++offset) {
            const bool near = offset <= 64 || offset >= 4096 - 64; // a line past it, or before it
            if (near) add(label_of(offset), offset, contains(grid, offset));
        }
    }
    return compared(context,
                    "what does it cost if a destination begins some bytes past or before its "
                    "source, modulo 4096?",
                    groups, {"each against the same misalignment half a page away"});
}

Section store_forwarding(const Context& context) {
    const int widest = widest_load();
    const std::string alone = "the copy alone";
    std::vector<Group> groups;
    for (const std::size_t size : {32, 128, 512, 4096}) {
        Group& group = groups.emplace_back(Group{format_size(size), size, {}});
        group.conditions.push_back(
            {alone, alone, {{"read", "nothing"}}, copied_and_read(context.arena, size, 0, 0)});
        for (const std::string where : {"head", "tail"}) {
            for (const int bytes : {1, 8, 16, 32}) {
                if (bytes > widest) continue;
                const std::size_t at = where == "tail" ? size - static_cast<std::size_t>(bytes) : 0;
                group.conditions.push_back({where + ", " + std::to_string(bytes) + " B",
                                            alone,
                                            {{"read", where}, {"bytes", bytes}},
                                            copied_and_read(context.arena, size, at, bytes)});
            }
        }
    }
    std::vector<std::string> notes;
    if (widest < 32) notes.emplace_back("no loads of 32 B: the CPU lacks them");
    notes.emplace_back("a load waits for its copy and the next copy for the load; copies alone "
                       "overlap, so some slowdown is the waiting itself");
    return compared(context,
                    "what does it cost to wait for a load from the copy's head or tail, right "
                    "after each copy?",
                    groups, notes);
}

Section contents(const Context& context) {
    constexpr std::size_t kLargest = 8 << 20;
    const Arena data(kLargest + kRoaming + kPhase), zeros(kLargest + kRoaming + kPhase);
    std::memset(zeros.writable_source(), 0, zeros.bytes());
    std::vector<Group> groups;
    for (const std::size_t size :
         {std::size_t{4} << 10, std::size_t{128} << 10, std::size_t{1} << 20, kLargest}) {
        const auto condition = [&](const char* label, const char* key,
                                   const Arena& arena) -> Condition {
            return {label,
                    "zeros",
                    {{"contents", key}},
                    repeated(arena.destination() + kPhase, arena.source(), size)};
        };
        groups.push_back(
            {format_size(size),
             size,
             {condition("zeros", "zeros", zeros), condition("other data", "data", data)}});
    }
    return compared(context,
                    "is copying zeros, which many a benchmark does, faster than copying data?",
                    groups);
}

} // namespace asterope::diagnosis
