// What a run ends with: its findings as profile and tables want them.
#include "run/result.hpp"

#include "profile/result_table.hpp"
#include "profile/short_result.hpp"

namespace asterope {

SearchResults results_of(const OperationSearch& search) {
    const auto& [plan, spaces, references, found] = search;
    SearchResults results{spaces.space, found.pipelines};
    if (found.small) {
        results.small = {plan.statistics.name, plan.small_objective, spaces.small_space,
                         *found.small};
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

std::string tables_of(const OperationSearch& search, const SearchResults& results, bool all) {
    const PipelineFacts& pipelines = results.pipelines;
    const std::string text =
        '\n' + result_sentences(pipelines, results.small, results.threads,
                                search.findings.left_out, search.findings.exam);
    if (!all) return '\n' + routine_rows(results.space, pipelines, results.small) + text;
    std::string tables;
    for (const std::string& table :
         {result_table(results.space, pipelines), references_table(pipelines),
          sensing_table(pipelines), intents_table(pipelines),
          results.small ? small_table(*results.small, search.plan.operation) : "",
          results.overlapping ? overlapping_table(*results.overlapping) : "",
          results.aliased ? aliased_table(*results.aliased) : "",
          results.threads ? threads_table(*results.threads) : ""}) {
        if (!table.empty()) tables += '\n' + table;
    }
    return tables + text;
}

} // namespace asterope
