// What the data itself does: zeros against anything else.
#include <cstring>

#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/mapping.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

Section contents(const Context& context) {
    Section section;
    section.question = "is copying zeros, which many a benchmark does, faster than copying data?";
    constexpr std::size_t largest = std::size_t{8} << 20;
    const Mapping data_source(largest + kRoaming, Pages::huge);
    const Mapping zero_source(largest + kRoaming, Pages::huge);
    const Mapping data_destination(largest + kRoaming + kPhase, Pages::huge);
    const Mapping zero_destination(largest + kRoaming + kPhase, Pages::huge);
    std::memset(zero_source.data(), 0, largest + kRoaming);
    const std::string zeros = "zeros", data = "other data";
    std::vector<Group> groups;
    for (const std::size_t size :
         {std::size_t{4} << 10, std::size_t{128} << 10, std::size_t{1} << 20, largest}) {
        groups.push_back(
            {format_size(size),
             size,
             {{zeros,
               zeros,
               {{"contents", "zeros"}},
               repeated(zero_destination.data() + kPhase, zero_source.data(), size)},
              {data,
               zeros,
               {{"contents", "data"}},
               repeated(data_destination.data() + kPhase, data_source.data(), size)}}});
    }
    fill(section, compare(groups, context));
    return section;
}

} // namespace asterope::diagnosis
