// What a run ends with: its findings as profile and tables want them.
#pragma once

#include <string>

#include "run/run.hpp"

namespace asterope {

/// What was found of one operation. `search` must outlive it.
SearchResults results_of(const OperationSearch& search);

/// For people: the tables of one operation, all of them or the routine's rows alone, and what they
/// say in sentences.
std::string tables_of(const Profile& profile, Operation operation, bool all);

} // namespace asterope
