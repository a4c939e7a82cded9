// What a run begins and ends with: its searches in words, their findings as profile and tables want
// them.
#include "run/result.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "profile/expected_gain.hpp"
#include "profile/result_table.hpp"
#include "profile/short_result.hpp"

namespace asterope {

std::string what_is_searched(const Searches& searches) {
    std::string words;
    for (const auto& one : searches) {
        const std::size_t large = one->spaces.entrants.size(),
                          small = one->spaces.small_space.size();
        if (one->plan.operation == Operation::copy) {
            words += std::to_string(large) + " candidates a size" +
                     (one->plan.extended ? " and the extension axes" : "") + ", " +
                     std::to_string(small) + " small copies, ";
        } else {
            words += std::to_string(large + small) + " sets, ";
        }
    }
    const Plan& plan = searches.front()->plan;
    return words + plan.rigor.name + " search, workload " + plan.objective.name + "\n";
}

SearchResults results_of(const OperationSearch& search) {
    const auto& [plan, spaces, references, found] = search;
    SearchResults results{spaces.space, found.pipelines};
    if (found.small) {
        results.small = {plan.statistics.name, "balanced", spaces.small_space, *found.small};
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

namespace {

/// Of one operation.
std::string tables_of(const OperationSearch& search, const SearchResults& results, bool all) {
    const PipelineFacts& pipelines = results.pipelines;
    const std::string text =
        '\n' + result_sentences(pipelines, results.small, results.threads, search.findings.left_out,
                                search.findings.exam);
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

} // namespace

std::string add_findings(Profile& profile, const Searches& searches, bool all) {
    std::string headlines, tables;
    for (const auto& one : searches) {
        const Findings& found = one->findings;
        if (found.pipelines.found.empty()) continue;
        const SearchResults results = results_of(*one);
        headlines += headline(found.pipelines, results.small, found.exam);
        if (one != searches.front()) {
            profile.memset =
                set_outcome(results, found.left_out, found.exam, one->spaces.entrants.size());
            tables += '\n' + std::string(name_of(one->plan.operation)) + '\n';
        }
        tables += tables_of(*one, results, all);
    }
    const OperationSearch& copies = *searches.front();
    const SearchResults results = results_of(copies);
    profile.left_out = copies.findings.left_out;
    profile.exam = copies.findings.exam;
    std::string program;
    if (copies.plan.program) {
        profile.search.program = expected_gain(*copies.plan.program, results.pipelines,
                                               results.small, copies.plan.small_weights);
        program = wrapped(expected_sentence(*profile.search.program));
    }
    add_results(profile, results);
    if (all) tables += '\n' + timings_table(profile.search.phases, profile.search.seconds);
    return program + headlines + tables;
}

void require_no_loss(const Searches& searches, const std::string& unexamined) {
    if (!searches.front()->findings.exam) {
        throw Failure("--strict: the compiled routine was not examined" +
                      (unexamined.empty() ? "" : ": " + unexamined));
    }
    std::size_t losses = 0, cells = 0;
    for (const auto& one : searches) {
        if (!one->findings.exam) continue;
        losses += one->findings.exam->losses.size();
        cells += one->findings.exam->cells;
    }
    if (losses == 0) return;
    throw Failure("--strict: the compiled routine is slower than libc in " +
                  std::to_string(losses) + " of " + std::to_string(cells) +
                  " situations and sizes");
}

} // namespace asterope
