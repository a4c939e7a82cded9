// The section `misalignment`: the cost of buffers that do not begin at a cache line.
#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

Section misalignment(const Context& context) {
    Section section;
    section.question = "what does it cost if a source, a destination or both begin some bytes "
                       "past a cache line?";
    const std::vector<std::size_t> grid = {1, 4, 8, 16, 31, 32, 48, 63};
    constexpr struct {
        const char* name;
        bool source, destination;
    } sides[] = {{"source", true, false}, {"destination", false, true}, {"both", true, true}};
    const std::string aligned = "both at a line";
    std::vector<Group> groups;
    for (const std::size_t size : {std::size_t{512}, std::size_t{4} << 10, std::size_t{64} << 10}) {
        Group group{format_size(size), size, {}};
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
        for (const auto& side : sides) {
            for (std::size_t past = 1; past < 64; ++past) {
                add(std::string(side.name) + " +" + std::to_string(past), side.source ? past : 0,
                    side.destination ? past : 0, contains(grid, past));
            }
        }
        groups.push_back(std::move(group));
    }
    fill(section, compare(groups, context));
    return section;
}

} // namespace asterope::diagnosis
