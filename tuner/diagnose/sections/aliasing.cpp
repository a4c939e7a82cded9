// The section `aliasing`: the cost of buffers at nearly the same page offset. There the CPU
// mistakes loads for loads of bytes that a store in flight writes.
#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kFar = 2048; ///< half a page: no load is near a store

std::string label_of(std::size_t offset) {
    return offset <= kFar ? '+' + std::to_string(offset) + " B"
                          : '-' + std::to_string(4096 - offset) + " B";
}

} // namespace

Section aliasing(const Context& context) {
    Section section;
    section.question = "what does it cost if a destination begins some bytes past or before its "
                       "source, modulo 4096?";
    const std::vector<std::size_t> grid = {0,    1,    8,    16,   32,   48,   63,
                                           4032, 4033, 4048, 4064, 4080, 4088, 4095};
    std::vector<Group> groups;
    for (const std::size_t size : {std::size_t{512}, std::size_t{4} << 10, std::size_t{64} << 10}) {
        Group group{format_size(size), size, {}};
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
        groups.push_back(std::move(group));
    }
    section.notes.push_back("each against the same misalignment half a page away");
    fill(section, compare(groups, context));
    return section;
}

} // namespace asterope::diagnosis
