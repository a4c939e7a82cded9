// Finds the small copy: which shape serves up to a few hundred bytes best.
#include "search/small_search.hpp"

#include <algorithm>

#include "base/contains.hpp"
#include "base/error.hpp"

namespace asterope {

Weights parse_small_weights(std::string_view text) {
    double unpredictable = 0, predictable = 0;
    if (text == "balanced") {
        unpredictable = predictable = 1;
    } else if (text == "unpredictable") {
        unpredictable = 1;
    } else if (text == "predictable") {
        predictable = 1;
    } else {
        throw BadInput("small copies '" + std::string(text.substr(0, 40)) +
                       "' are unknown: choose balanced, unpredictable or predictable");
    }
    // A quarter of all that counts. Few calls stand at such a page's end, but a program whose
    // buffer lies there makes nothing but such calls, and a masked move takes hundreds of cycles
    // for each. As a mix, with the mispredicted branches of others in it, it had 0.18 of libc's
    // speed there, read 0.30 (a Xeon with AMX), and about 1.4 on average elsewhere. By these
    // figures it would still win with a seventh. With a quarter no copy that falls so deep wins by
    // its gains elsewhere, and one that is 10 % slower there, as it looks where the page ends,
    // loses 2.5 % by it.
    const double page_ends = (unpredictable + predictable) / 3;
    const double mix = unpredictable / 8, single = predictable / 4;
    return {{Workload::mix_l1, mix},
            {Workload::mix_l2, mix},
            {Workload::mix_l3, mix},
            {Workload::mix_memory, mix},
            {Workload::mix_l1_read, mix},
            {Workload::mix_l2_read, mix},
            {Workload::mix_l3_read, mix},
            {Workload::mix_memory_read, mix},
            {Workload::fixed, single},
            {Workload::fixed_read, single},
            {Workload::fixed_walk, single},
            {Workload::fixed_walk_read, single},
            {Workload::page_end, page_ends / 2},
            {Workload::page_end_read, page_ends / 2}};
}

Weights timed_weights(Weights weights, const std::function<bool(Workload)>& timed) {
    const bool any = std::any_of(weights.begin(), weights.end(),
                                 [&](const auto& weighted) { return timed(weighted.first); });
    if (any) std::erase_if(weights, [&](const auto& weighted) { return !timed(weighted.first); });
    return weights;
}

std::vector<Entrant> suited(const std::vector<Entrant>& entrants,
                            const std::vector<const asterope_copy*>& space,
                            std::string_view objective) {
    std::vector<Entrant> chosen = entrants;
    if (objective == "predictable") {
        std::erase_if(chosen, [&](Entrant entrant) {
            return !std::string_view(space[static_cast<std::size_t>(entrant)]->name)
                        .starts_with("stepped ");
        });
    }
    return chosen;
}

Entrant plain_small(const std::vector<const asterope_copy*>& space) {
    for (std::size_t i = 0; i < space.size(); ++i) {
        if (std::string_view(space[i]->name) == asterope_plain_small_copy)
            return static_cast<Entrant>(i);
    }
    return kLibc;
}

SizeResult search_small(const std::vector<Entrant>& entrants, Entrant plain, const Weights& weights,
                        const Rigor& rigor, std::mt19937_64& random, const TimedCopies& timings) {
    if (entrants.empty()) throw Failure("no small copy copies right on this machine");
    Race race(0, weights, random, timings);
    // A small space: everybody gets enough samples, whatever the rigor.
    race.sample(entrants, 5);
    const std::vector<Entrant> alive = race.best(entrants, 16);
    race.sample(alive, 8);
    auto finalists = race.best(alive, static_cast<std::size_t>(rigor.finalists));
    if (contains(entrants, plain) && !contains(finalists, plain)) finalists.push_back(plain);
    // No copy is simpler than another by so much that it should cost a percent of every call.
    return race.run_off(finalists, 2 * rigor.rounds, kLibc, plain, {0.002, 0.002});
}

} // namespace asterope
