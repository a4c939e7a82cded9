// Queries of searches, and the machines that they run on, whose fastest copy is known.
#pragma once

#include "search/search.hpp"
#include "search/utility.hpp"
#include "support/known_machine.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

namespace asterope::searches {

/// Large enough for every parameter to take effect.
constexpr std::size_t kSize = 65536;
inline const std::vector<Workload> kHot = {Workload::hot}, kBoth = {Workload::hot, Workload::cold},
                                   kThree = {Workload::hot, Workload::cold, Workload::consume};

using Space = std::vector<Candidate>;
using Entrants = std::vector<Entrant>;

inline const Space& whole_space() {
    static const Space space = paper_space([](std::string_view) { return true; });
    return space;
}

inline const Candidate& at(const Space& space, Entrant entrant) {
    return space[entrant.index()];
}

inline Entrant entrant_named(const std::string& name) {
    const auto found = std::ranges::find(whole_space(), name, &Candidate::name);
    EXPECT_NE(found, whole_space().end()) << name;
    return Entrant(found - whole_space().begin());
}

/// "ZMM T NT T0": the search samples each such family before it looks at its sizes and distances.
inline std::string family_of(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    return std::string(v.rt) + ' ' + v.lt + ' ' + v.st + ' ' + v.pt;
}

/// In the hot workload, each as `ratio` says.
inline KnownMachine::Ratios hot_ratios(const Space& space,
                                       const std::function<double(const Candidate&)>& ratio) {
    std::vector<double> ratios;
    std::ranges::transform(space, std::back_inserter(ratios), ratio);
    return {{Workload::hot, ratios}};
}

/// Numbers by name, each drawn when it is first asked for, for smooth landscapes.
struct Drawn {
    double operator()(const std::string& name, double low, double high) {
        const auto [at, fresh] = drawn.emplace(name, 0);
        if (fresh) at->second = low + (high - low) * noise::uniform(random);
        return at->second;
    }
    /// Each family has a level of its own and one best prefetch size and distance, around which it
    /// falls off.
    double height(const Candidate& candidate, double least, double most_ps, double most_pd) {
        const std::string family = family_of(candidate);
        const double level = (*this)(family, least, 1.3);
        if (!candidate.prefetches()) return level;
        const double ps = (*this)(family + " ps", 2, most_ps),
                     pd = (*this)(family + " pd", 0, most_pd);
        return level * (1 - 0.10 * std::pow((candidate.variant->ps - ps) / (most_ps - 2), 2) -
                        0.20 * std::pow((candidate.pd - pd) / most_pd, 2));
    }

    noise::Random random;
    std::map<std::string, double> drawn = {};
};

inline KnownMachine::Ratios landscape(std::uint64_t seed,
                                      const std::vector<Workload>& workloads = kHot) {
    KnownMachine::Ratios ratios;
    for (const Workload workload : workloads) {
        Drawn draw{noise::Random(seed * 2 + ratios.size())};
        for (const Candidate& candidate : whole_space()) {
            ratios[workload].push_back(draw.height(candidate, 0.8, 14, 30));
        }
    }
    return ratios;
}

/// The objectives of a balanced run: the mix, then each workload in it; the others only measured.
inline std::vector<Weights> balanced_and_intents() {
    std::vector<Weights> objectives = {equal_weights(kThree)};
    for (const Workload one : kThree) {
        objectives.emplace_back();
        for (const Workload other : kThree) objectives.back().emplace_back(other, other == one);
    }
    return objectives;
}

/// The arguments of a search.
struct Query {
    std::uint64_t seed = 1;
    std::vector<Weights> objectives = {equal_weights(kHot)};
    std::vector<Entrants> neighbours = {};
    Entrants entrants = all_entrants(whole_space().size());
    const Space* space = &whole_space();
    const Extension* extension = nullptr;
};

inline Found find(KnownMachine& machine, const std::string& rigor, Query query = {}) {
    noise::Random random(query.seed);
    query.neighbours.resize(query.objectives.size());
    return search_size({kSize, *query.space, query.entrants, query.extension, query.objectives,
                        parse_rigor(rigor), query.neighbours, random},
                       machine);
}

inline SizeResult search(KnownMachine& machine, const std::string& rigor, const Query& query = {}) {
    return find(machine, rigor, query).results.front();
}

inline std::set<Entrant> timed_on(const KnownMachine& machine) {
    std::set<Entrant> timed;
    for (const KnownMachine::Call& call : machine.calls) {
        if (std::get<2>(call).is_listed()) timed.insert(std::get<2>(call));
    }
    return timed;
}

/// What an entrant is worth to an objective: the weighted geometric mean, in which losses count
/// several times.
inline double worth(const KnownMachine& machine, Entrant entrant, const Weights& weights) {
    double sum = 0;
    for (const auto& [workload, weight] : weights) {
        sum += weight * utility(std::log(machine.ratio(entrant, workload)));
    }
    return std::exp(sum);
}

/// What winners were worth as shares of the best there was, over many landscapes.
struct Shares {
    double worst = 1, sum = 0;
    int count = 0, undecided = 0, beyond_paper = 0;

    double mean() const { return sum / count; }
};

/// For each objective, on machines of these ratios by seed.
inline std::vector<Shares>
shares_of(const std::string& rigor, bool noisy, std::uint64_t seeds,
          const std::function<KnownMachine::Ratios(std::uint64_t)>& ratios, Query query = {}) {
    std::vector<Shares> shares(query.objectives.size());
    for (query.seed = 0; query.seed < seeds; ++query.seed) {
        KnownMachine machine(ratios(query.seed),
                             noisy ? noise_of_others(0.01, query.seed) : jitter(0.001, query.seed));
        const Found found = find(machine, rigor, query);
        EXPECT_EQ(found.results.size(), shares.size());
        for (std::size_t i = 0; i < shares.size(); ++i) {
            if (found.results[i].undecided) {
                ++shares[i].undecided;
                continue;
            }
            double best = 0;
            for (const Entrant entrant : all_entrants(query.space->size())) {
                best = std::max(best, worth(machine, entrant, query.objectives[i]));
            }
            const Entrant won = found.results[i].winner();
            const double share = worth(machine, won, query.objectives[i]) / best;
            shares[i].worst = std::min(shares[i].worst, share);
            shares[i].sum += share;
            ++shares[i].count;
            shares[i].beyond_paper += !in_paper(*at(*query.space, won).variant);
        }
    }
    return shares;
}

/// What each rigor promises; on a noisy machine quick, which looks at little, promises less.
struct Rigors : ::testing::TestWithParam<const char*> {
    static double least(double quick, double others) {
        return std::string_view(GetParam()) == "quick" ? quick : others;
    }
};

} // namespace asterope::searches
