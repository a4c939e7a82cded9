// The standing profile: the choices of an earlier run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace asterope {

/// The copies of one operation in the profile of an earlier run, by their names.
struct Standing {
    struct Row {
        std::size_t up_to;                  ///< bytes
        std::vector<std::string> pipelines; ///< one, or one by Locality behind a probe
        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows; ///< ascending; the last one takes all that is larger
    std::string small;     ///< empty: the profile lacks one
    bool operator==(const Standing&) const = default;
};

} // namespace asterope
