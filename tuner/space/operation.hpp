// The operations: which functions of libc are tuned, and what each of them is called.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "space/candidates.h"

namespace asterope {

/// memcpy, whose pipelines serve memmove and mempcpy as well; memset.
enum class Operation { copy, set };

struct OperationFacts {
    std::string_view name;        ///< libc's, as options, logs and profiles have it
    const asterope_space* space;  ///< of its pipelines
    const char* many;             ///< what sentences call its calls
    std::string_view small;       ///< what sentences call its small members
    std::string_view small_title; ///< the same at the beginning of one
};

inline constexpr std::array<OperationFacts, 2> kOperations = {
    {{"memcpy", &asterope_copies, "copies", "small copies", "Small copies"},
     {"memset", &asterope_sets, "sets", "small sets", "Small sets"}}};

constexpr const OperationFacts& facts_of(Operation operation) {
    return kOperations[static_cast<std::size_t>(operation)];
}

inline std::string name_of(Operation operation) {
    return std::string(facts_of(operation).name);
}

/// The operation of that name.
constexpr std::optional<Operation> find_operation(std::string_view name) {
    for (std::size_t i = 0; i < kOperations.size(); ++i) {
        if (kOperations[i].name == name) return static_cast<Operation>(i);
    }
    return std::nullopt;
}

/// The operation that a candidate, or a kind of copies, belongs to.
template <class Member> Operation operation_of(const Member& member) {
    const auto found = std::ranges::find(kOperations, member.space, &OperationFacts::space);
    return static_cast<Operation>(found - kOperations.begin());
}

} // namespace asterope
