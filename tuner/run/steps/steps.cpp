// All steps of the search of one operation: their order, and the time budget of each.
#include "run/steps.hpp"

namespace asterope {

void run_steps(OperationRun& run, Findings& findings, bool examines, const BuildRoutine& build) {
    findings.pipelines.objectives = run.objectives;
    findings.pipelines.operation = run.plan.operation;
    calibrate_sizes(run);
    if (!examines) run.over({Step::exam, Step::building});
    if (!build) run.over({Step::building});
    run.allow(kShareOfSizes);
    search_sizes(run, findings);
    run.over({Step::screening, Step::run_off, Step::overlapping});
    run.allow(kShareOfRows);
    const Contests contests = find_rows(run, findings);
    run.over({Step::rows, Step::sensing});
    find_bound(run, contests, findings);
    run.over({Step::small});
    run.allow(kShareOfBoundaries);
    find_boundaries(run, contests, findings);
    run.over({Step::boundaries});
    run.allow(1);
    find_other_kinds(run, findings);
    if (examines) examine(run, contests, findings, build);
}

void find_other_kinds(OperationRun& run, Findings& findings) {
    find_aliased(run, findings);
    find_shared(run, findings);
    find_page_stages(run, findings);
    run.over({Step::aliased, Step::threads, Step::fresh});
}

} // namespace asterope
