// Calibrates, names steps in the log, and counts their time.
#include "run/operation_run.hpp"

#include "base/random.hpp"
#include "timing/cache_effect.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

std::vector<TimedCopy> all_copies(const std::vector<Candidate>& space) {
    std::vector<TimedCopy> copies;
    copies.reserve(space.size());
    for (const Candidate& candidate : space) copies.push_back(timed_copy(candidate));
    return copies;
}

} // namespace

OperationRun::OperationRun(const OperationSearch& search, const Machine& machine,
                           std::uint64_t seed, RunTimings& all, Timings& source)
    : plan(search.plan), spaces(search.spaces), objectives(plan.objectives()),
      copies(all_copies(spaces.space)), timings(all), progress(all.progress),
      libc_thresholds_(machine.libc_thresholds), last_cache_bytes_(last_cache_bytes(machine)),
      references_(search.references), seed_(seed) {
    timings.go_on_with(source);
    timings.budget.begin_part(plan.budget_share);
}

TimedCopies OperationRun::timed(const std::vector<TimedCopy>& those, std::size_t size) const {
    return {timings, those, libc_at(size, libc_thresholds_, plan.operation), references_};
}

bool OperationRun::outgrows_caches(std::size_t size) const {
    return outgrows(size, last_cache_bytes_) ||
           (facts_of(plan.operation).reads && size == last_cache_bytes_ / 2);
}

bool OperationRun::may_take(Entrant entrant, std::size_t size) const {
    return facts_of(plan.operation).reads || size >= last_cache_bytes_ ||
           copy(entrant).cache_effect != kNonTemporal;
}

LoggedStep OperationRun::logged(Step step, std::size_t size, const std::string& part) const {
    return {step, size, part, plan.operation};
}

void OperationRun::enter(Step step, std::size_t size, const std::string& part) {
    timings.enter(logged(step, size, part));
}

std::mt19937_64 OperationRun::random(Step step, std::size_t size) const {
    return named_random(seed_, logged(step, size).name());
}

void OperationRun::calibrate(std::size_t size) {
    for (const auto& weighted : weights_at(size, weights())) {
        timings.calibration(size, weighted.first);
    }
}

void OperationRun::show(Step step) {
    progress.enter(title_of(step, plan.operation));
    progress.label("");
    account(step);
}

/// Another operation than copies is one phase, as it takes little time.
void OperationRun::account(Step phase) {
    timings.spent.enter(plan.operation == Operation::copy ? phase : Step::memset);
}

void OperationRun::over(std::initializer_list<Step> steps) {
    for (const Step step : steps) progress.end(title_of(step, plan.operation));
}

} // namespace asterope
