// The section `contents`: whether copying zeros is faster than copying other data.
#include <cstring>

#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

Section contents(const Context& context) {
    Section section;
    section.question = "is copying zeros, which many a benchmark does, faster than copying data?";
    constexpr std::size_t largest = std::size_t{8} << 20;
    const Arena data(largest + kRoaming + kPhase), zeros(largest + kRoaming + kPhase);
    std::memset(zeros.writable_source(), 0, zeros.bytes());
    const auto condition = [](const char* label, const char* key, const Arena& arena,
                              std::size_t size) -> Condition {
        return {label,
                "zeros",
                {{"contents", key}},
                repeated(arena.destination() + kPhase, arena.source(), size)};
    };
    std::vector<Group> groups;
    for (const std::size_t size :
         {std::size_t{4} << 10, std::size_t{128} << 10, std::size_t{1} << 20, largest}) {
        groups.push_back({format_size(size),
                          size,
                          {condition("zeros", "zeros", zeros, size),
                           condition("other data", "data", data, size)}});
    }
    fill(section, compare(groups, context));
    return section;
}

} // namespace asterope::diagnosis
