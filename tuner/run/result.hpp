// The beginning and the end of a run: its searches in words, and their findings in the form that
// profile and tables need.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "run/operation_run.hpp"

namespace asterope {

/// The searches by operation, copies first.
using Searches = std::vector<OperationSearch>;

/// "7186 candidates a size and the extension axes, 68 small copies, ... standard search, workload
/// balanced", with the end of the line.
std::string what_is_searched(const Searches& searches);

/// See LogHeader::space_hashes.
std::array<std::string, kOperations.size()> hashes_of(const Searches& searches);

/// Adds the findings about one operation to the profile.
void add_findings(Profile& profile, const OperationSearch& search);

/// Adds all that was found to a profile that has the machine and the facts of the search. Returns
/// the tables, which tell the same: `all` of them, or the routine's rows alone.
std::string add_findings(Profile& profile, const Searches& searches, bool all);

/// Throws Failure if an exam found the routine slower than libc or a reference, or if an operation
/// was not examined. `unexamined`: the reason for a missing exam, where it is known.
void require_no_loss(const Searches& searches, const std::string& unexamined);

} // namespace asterope
