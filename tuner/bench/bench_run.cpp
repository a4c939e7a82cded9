// The run pins the process, builds the timings, and asks them for each round of each job.
#include "bench/bench_run.hpp"

#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "base/watched_run.hpp"
#include "bench/selection.hpp"
#include "bench/summary.hpp"
#include "machine/affinity.hpp"
#include "run/time_rounds.hpp"
#include "timing/clock.hpp"

namespace asterope {

BenchRun::BenchRun(const RoutineOptions& options)
    : BenchRun(read_machine("/", options.cpu), {}, options.rounds) {
    contenders_ = {libc_contender(machine_.libc, Operation::copy), routine_contender(options)};
}

void require_memory(std::size_t bytes, const std::string& needs, std::size_t most) {
    if (bytes <= most) return;
    const std::size_t mebibytes = most >> 20;
    throw BadInput(needs + " more than the " +
                   (mebibytes ? std::to_string(mebibytes) + " MiB" : format_size(most)) +
                   " that may be taken: make it smaller");
}

int BenchRun::start(int cpu, bool one_process) {
    const int pinned = pin_to_cpu(cpu);
    start_clock(one_process && machine_.cpu.invariant_tsc);
    timings_.go_on_with(source_.emplace(DisturbanceMonitor(pinned)));
    return pinned;
}

double BenchRun::expected_cost(const Job& job) const {
    const auto part = [&](const Contender& one) { return takes_part(one, job); };
    // libc a second time
    const auto entrants = std::ranges::count_if(contenders_, part) + 1;
    return job.sample_cost * static_cast<double>(entrants);
}

void BenchRun::print(const std::string& text) {
    timings_.progress.clear();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

void BenchRun::begin(std::shared_ptr<Table> table) {
    table_ = std::move(table);
    if (table_) print(table_->begin());
}

void BenchRun::end() {
    if (table_) print(table_->end());
}

/// Without figures.
static Cell cell_of(const Job& job, std::size_t part) {
    return {job.suite, job.workload, job.labels[part], job.size, job.threads, job.weighting};
}

std::vector<Cell> BenchRun::measure(const Job& job) {
    timings_.progress.label(name_of(cell_of(job, 0)));
    // By their places: libc is a listed copy here, as each contender has its own cache effect.
    const Entrant libc = 0, routine = 1, libc_again = contenders_.size();
    const auto place = [=](Entrant who) { return (who == libc_again ? libc : who).index(); };
    const auto contender = [&](Entrant who) -> const Contender& { return contenders_[place(who)]; };
    std::vector<Entrant> ran;
    for (const Entrant one : all_entrants(contenders_.size())) {
        if (takes_part(contender(one), job)) ran.push_back(one);
    }
    std::vector<Entrant> entrants = ran;
    entrants.push_back(libc_again);
    const auto is_threaded = [&](Entrant who) { return contender(who).threaded; };
    const auto cache_effect = [&](Entrant who) { return static_cast<int>(place(who)); };
    if (job.prepare) job.prepare();
    const Paired paired =
        time_rounds({.entrants = entrants,
                     .rounds = rounds_,
                     .sample_cost = job.sample_cost,
                     .time =
                         [&](Entrant entrant, std::uint64_t round) {
                             const Calling calling(contender(entrant).name);
                             return job.time(contender(entrant), round, cache_effect(entrant));
                         },
                     .cache_effect = cache_effect,
                     .watched = job.watched && std::ranges::none_of(ran, is_threaded)},
                    timings_, *source_);

    const auto entry_point = std::ranges::find_if(
        ran, [&](Entrant who) { return contender(who).ours && !contender(who).workloads.empty(); });
    std::vector<Cell> cells;
    for (std::size_t part = 0; part < job.labels.size(); ++part) {
        Cell cell = cell_of(job, part);
        cell.floor = paired.ratio(libc, libc_again, part);
        for (const Entrant who : ran) {
            const Contender& one = contender(who);
            cell.copies.push_back({.copy = one.name,
                                   .seconds = paired.seconds(who, part),
                                   .ratio = paired.ratio(libc, who, part),
                                   .versus = paired.ratio(routine, who, part),
                                   .reference = one.reference,
                                   .rival = !one.threaded && !one.ours});
            if (entry_point == ran.end()) continue;
            cell.copies.back().versus_entry_point = paired.ratio(*entry_point, who, part);
        }
        if (table_) print(table_->row(cell));
        cells.push_back(std::move(cell));
    }
    return cells;
}

void BenchRun::warn() const {
    std::fflush(stdout);
    timings_.disturbed_rounds().warn("these figures are");
}

int in_child_process(const RoutineOptions& routine, const std::function<int()>& work) {
    routine_library(routine); // built in this process, if at all, and deleted at its end
    return run_watched({"asterope-bench", "interrupted"}, [&] {
        catch_interrupts();
        return work();
    });
}

unsigned times_for(std::size_t bytes, std::size_t each) {
    return static_cast<unsigned>(std::max<std::size_t>(4, bytes / each));
}

} // namespace asterope
