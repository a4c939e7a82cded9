// What a run ends with: its findings as profile and tables want them.
#include "run/result.hpp"

#include "profile/result_table.hpp"
#include "profile/short_result.hpp"

namespace asterope {

SearchResults results_of(const OperationSearch& search) {
    const auto& [plan, spaces, references, found] = search;
    SearchResults results{spaces.space, found.pipelines};
    if (found.small) {
        results.small = {plan.statistics.name, spaces.small_space, *found.small};
    }
    if (plan.operation == Operation::copy) {
        results.aliased = {spaces.aliased_space, found.aliased, choose_aliased(found.aliased)};
    }
    if (!found.shared.empty()) {
        results.threads = {plan.threads, found.shared, share_intervals(found.shared)};
    }
    if (found.overlapping) results.overlapping = {spaces.overlapping_space, *found.overlapping};
    results.sensing = spaces.senses;
    return results;
}

std::string tables_of(const Profile& profile, Operation operation, bool all) {
    const std::string text = '\n' + result_sentences(profile, operation);
    if (!all) return '\n' + routine_rows(profile, operation) + text;
    return choices_tables(profile, operation) + references_table(profile, operation) + text;
}

} // namespace asterope
