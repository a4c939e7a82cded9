// The operations: the functions of libc that are tuned, with their names.
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
    Operation operation;
    const char* prefix;          ///< It stands before the names of copies in logs.
    const asterope_space* space; ///< The space of its pipelines.
    bool reads;                  ///< It has a source: more sizes are searched by default.
    bool has_entry_points;  ///< Callers who know more have them. Extension axes are tried, too.
    std::size_t most_rows;  ///< So many at most: their code stays in the first cache.
    const char* many;       ///< "copies", in sentences.
    std::string_view small; ///< "small copies", in sentences.
    std::string_view small_title; ///< "Small copies", at the beginning of one.
};

inline constexpr std::array<OperationFacts, 2> kOperations = {
    {{Operation::copy, "", &asterope_copies, true, true, 8, "copies", "small copies",
      "Small copies"},
     {Operation::set, "set_", &asterope_sets, false, false, 4, "sets", "small sets",
      "Small sets"}}};

constexpr const OperationFacts& facts_of(Operation operation) {
    return kOperations[static_cast<std::size_t>(operation)];
}

/// libc's, as options, logs and profiles have it.
inline std::string name_of(Operation operation) {
    return facts_of(operation).space->function;
}

/// The name of the operation's function in the routine.
inline std::string symbol_of(Operation operation) {
    return "asterope_" + name_of(operation);
}

/// The operation of that name.
inline std::optional<Operation> find_operation(std::string_view name) {
    for (const OperationFacts& one : kOperations) {
        if (one.space->function == name) return one.operation;
    }
    return std::nullopt;
}

/// The operation that a candidate, or a kind of copies, belongs to.
template <class Member> Operation operation_of(const Member& member) {
    return std::ranges::find(kOperations, member.space, &OperationFacts::space)->operation;
}

} // namespace asterope
