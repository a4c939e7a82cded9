// Loops over the searches and adds the sentences and tables of each operation.
#include "run/result.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "profile/result_table.hpp"
#include "profile/short_result.hpp"

namespace asterope {

std::string what_is_searched(const Searches& searches) {
    std::string words;
    for (const OperationSearch& one : searches) {
        const std::size_t large = one.spaces.entrants.size(),
                          small = one.spaces.members("small").size();
        if (one.plan.operation == Operation::copy) {
            words += std::to_string(large) + " candidates a size" +
                     (one.plan.extended ? " and the extension axes" : "") + ", " +
                     std::to_string(small) + " small copies, ";
        } else {
            words += std::to_string(large + small) + ' ' + facts_of(one.plan.operation).many + ", ";
        }
    }
    const Plan& plan = searches.front().plan;
    return words + plan.rigor.name + " search, workload " + plan.objective.name + "\n";
}

std::array<std::string, kOperations.size()> hashes_of(const Searches& searches) {
    std::array<std::string, kOperations.size()> hashes;
    for (const OperationSearch& one : searches) {
        hashes[static_cast<std::size_t>(one.plan.operation)] = one.spaces.hash();
    }
    return hashes;
}

void add_findings(Profile& profile, const OperationSearch& search) {
    const Findings& found = search.findings;
    if (found.small && search.plan.operation == Operation::copy) { // sets are always the fleet's
        profile.search.distribution = profile_name(search.plan.statistics.name);
    }
    if (found.has(ChoiceKind::threads)) profile.search.threads = search.plan.threads;
    add_choices(profile, found, search.spaces);
}

namespace {

/// The sentences and tables of one operation.
std::string tables_of(const Profile& profile, Operation operation, bool all) {
    const std::string text = '\n' + result_sentences(profile, operation);
    if (!all) return '\n' + routine_rows(profile, operation) + text;
    return choices_tables(profile, operation) + references_table(profile, operation) + text;
}

} // namespace

std::string add_findings(Profile& profile, const Searches& searches, bool all) {
    std::string headlines, tables;
    for (const OperationSearch& one : searches) {
        const Operation operation = one.plan.operation;
        if (one.findings.pipelines.found.empty()) continue;
        profile.search.candidates[operation] = one.spaces.entrants.size();
        add_findings(profile, one);
        headlines += headline(profile, operation);
        if (operation != Operation::copy) tables += '\n' + name_of(operation) + '\n';
        tables += tables_of(profile, operation, all);
    }
    settle(profile);
    if (all) tables += '\n' + timings_table(profile.search.phases, profile.search.seconds);
    return headlines + tables;
}

void require_no_loss(const Searches& searches, const std::string& unexamined) {
    std::size_t losses = 0, cells = 0;
    for (const OperationSearch& one : searches) {
        if (!one.findings.exam) {
            const std::string why = one.findings.left_out.steps.count(Step::exam)
                                        ? "the time was up: the same command with --resume goes on"
                                        : unexamined;
            throw Failure("--strict: the compiled " + name_of(one.plan.operation) +
                          " was not examined" + (why.empty() ? "" : ": " + why));
        }
        losses += one.findings.exam->losses.size();
        cells += one.findings.exam->cells;
    }
    if (losses == 0) return;
    throw Failure("--strict: the compiled routine is slower than libc or a reference in " +
                  std::to_string(losses) + " of " + std::to_string(cells) + " cells");
}

} // namespace asterope
