// What the applications of asterope-bench have in common: libc's copy and the verified routine take
// turns in them, and each has a table.
#include "bench/app_run.hpp"

#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "bench/choice.hpp"
#include "machine/affinity.hpp"
#include "timing/clock.hpp"

namespace asterope {

AppRun::AppRun(const RoutineOptions& options)
    : rounds_(options.rounds), machine_(read_machine("/", options.cpu)),
      contenders_{libc_contender(machine_.libc, Operation::copy), routine_contender(options)} {}

std::size_t AppRun::bytes_that_may_be_taken() const {
    return machine_.usable_bytes ? machine_.usable_bytes : machine_.memory_bytes / 2;
}

void AppRun::require_memory(std::size_t bytes, const std::string& needs) const {
    require_memory(bytes, needs, bytes_that_may_be_taken());
}

void AppRun::require_memory(std::size_t bytes, const std::string& needs, std::size_t most) {
    if (bytes <= most) return;
    const std::size_t mebibytes = most >> 20;
    throw BadInput(needs + " more than the " +
                   (mebibytes ? std::to_string(mebibytes) + " MiB" : format_size(most)) +
                   " that may be taken: make it smaller");
}

int AppRun::start(std::optional<int> cpu) {
    const int pinned = cpu ? pin_to_cpu(*cpu) : -1;
    start_clock(cpu && machine_.cpu.invariant_tsc);
    catch_interrupts();
    watched_.emplace(pinned);
    return pinned;
}

void AppRun::begin(std::unique_ptr<Table> table, double trials) {
    table_ = std::move(table);
    std::fputs(table_->begin().c_str(), stdout);
    std::fflush(stdout);
    progress_.emplace(trials * rounds_, false);
}

std::vector<Cell> AppRun::measure(const Job& job) {
    return measure(job, contenders_);
}

std::vector<Cell> AppRun::measure(const Job& job, const Contenders& contenders) {
    progress_->label(job.suite + ' ' + job.labels.front());
    const double all = expected_seconds(job, contenders, rounds_);
    const std::vector<Cell> cells =
        asterope::measure(job, contenders, rounds_, *watched_,
                          [&](double share) { progress_->advance(share * all); });
    progress_->clear();
    for (const Cell& cell : cells) std::fputs(table_->row(cell).c_str(), stdout);
    std::fflush(stdout);
    return cells;
}

void AppRun::warn() const {
    std::fflush(stdout);
    watched_->warn("these figures are");
}

unsigned times_for(std::size_t bytes, std::size_t each) {
    return static_cast<unsigned>(std::max<std::size_t>(4, bytes / each));
}

std::size_t settling_bytes_of(const Machine& machine) {
    return std::min<std::size_t>(last_cache_bytes(machine), std::size_t{64} << 20);
}

} // namespace asterope
