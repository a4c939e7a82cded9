// Measures one cell of the comparison: all copies that take part, in paired rounds.
#include <algorithm>

#include "base/contains.hpp"
#include "base/interrupt.hpp"
#include "base/watched_run.hpp"
#include "bench/suite.hpp"
#include "timing/paired.hpp"

namespace asterope {

bool takes_part(const Contender& contender, const Job& job) {
    if (job.moves) return contender.move != nullptr;
    if (contender.threaded && job.threads > 1) return false;
    return contender.workloads.empty() || contains(contender.workloads, job.workload);
}

double expected_seconds(const Job& job, const Contenders& contenders, int rounds) {
    std::size_t entrants = 1; // libc a second time
    for (const Contender& contender : contenders) entrants += takes_part(contender, job);
    return job.trial_seconds * static_cast<double>(entrants) * rounds;
}

namespace {

std::vector<double> time(const Job& job, const Contenders& contenders, int who,
                         std::uint64_t round) {
    const Contender& contender = contenders[static_cast<std::size_t>(who)];
    const Calling calling(contender.name);
    if (job.time_parts) return job.time_parts(contender, round);
    return {job.time(contender, round, who)};
}

} // namespace

std::vector<Cell> measure(const Job& job, const Contenders& contenders, int rounds,
                          MonitoredRounds& watched,
                          const std::function<void(double share)>& advance) {
    const int libc = 0, routine = 1, libc_again = static_cast<int>(contenders.size());
    std::vector<int> entrants;
    for (int i = 0; i < libc_again; ++i) {
        if (takes_part(contenders[static_cast<std::size_t>(i)], job)) entrants.push_back(i);
    }
    std::vector<int> ran = entrants;
    entrants.push_back(libc_again);
    const auto cache_effect = [&](int entrant) { return entrant == libc_again ? libc : entrant; };

    const bool alone = job.threads == 1 && std::ranges::none_of(ran, [&](int who) {
                           return contenders[static_cast<std::size_t>(who)].threaded;
                       });
    if (job.prepare) job.prepare();
    const double share = 1 / (static_cast<double>(entrants.size()) * rounds);
    const Paired paired(
        entrants, rounds,
        [&](int entrant, std::uint64_t round) {
            throw_if_interrupted();
            std::vector<double> seconds = time(job, contenders, cache_effect(entrant), round);
            advance(share);
            return seconds;
        },
        alone ? &watched : nullptr, cache_effect);

    const auto contender = [&](int who) -> const Contender& {
        return contenders[static_cast<std::size_t>(who)];
    };
    const auto told = std::ranges::find_if(
        ran, [&](int who) { return contender(who).ours && !contender(who).workloads.empty(); });
    std::vector<Cell> cells;
    for (std::size_t part = 0; part < job.labels.size(); ++part) {
        Cell cell{job.suite,
                  job.workload,
                  job.labels[part],
                  job.size,
                  job.threads,
                  job.weighting,
                  paired.ratio(libc, libc_again, part),
                  {}};
        for (const int who : ran) {
            cell.copies.push_back({contender(who).name, paired.seconds(who, part),
                                   paired.ratio(libc, who, part),
                                   paired.ratio(routine, who, part)});
            if (told != ran.end()) cell.copies.back().versus_told = paired.ratio(*told, who, part);
            cell.copies.back().reference = contender(who).reference;
        }
        cells.push_back(std::move(cell));
    }
    return cells;
}

} // namespace asterope
