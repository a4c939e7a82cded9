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
    Operation operation;
    const char* prefix;          ///< stands before its names in logs
    const asterope_space* space; ///< the space of its pipelines
    bool reads;             ///< whether it has a source: then more sizes are searched by default
    bool has_entry_points;  ///< for callers who know more; extension axes are tried as well
    std::size_t most_rows;  ///< the most rows of the routine: a program keeps their code in its
                            ///< first cache
    const char* many;       ///< its calls' name in sentences
    std::string_view small; ///< its small members' name in sentences
    std::string_view small_title; ///< the same at the beginning of a sentence
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
