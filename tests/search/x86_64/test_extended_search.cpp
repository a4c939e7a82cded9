// The search of the extension axes on made-up machines: what they bring is found, and nothing else
// leaves the paper's space.
#include <deque>

#include "search/x86_64/search_queries.hpp"

using namespace asterope::searches;

namespace {

/// A made-up space: a small paper's one, then everything there is around it.
struct ExtendedSpace {
    std::deque<asterope_variant> variants; ///< which lie still
    Space candidates;                      ///< the paper's first
    Entrants paper;
    /// The questions to the extension, and its answers.
    Entrants neighbours, distance_grid;
    std::set<Entrant> offered;
    Extension extension;

    ExtendedSpace() {
        for (const char* rt : {"XMM", "YMM", "ZMM"})
            for (const char* st : {"T", "NT"})
                for (const char* pt : {"none", "T0", "NTA"})
                    for (const int tb : {1, 2, 4})
                        for (const int pi : {1, 4})
                            for (const int pw : {0, 8, 16})
                                for (const char* dir : {"up", "down"})
                                    add(rt, st, pt, {tb, pi, pw > 0, dir}, pw);
        const auto others =
            std::stable_partition(candidates.begin(), candidates.end(),
                                  [](const Candidate& one) { return !one.is_marked(); });
        paper = all_entrants(static_cast<std::size_t>(others - candidates.begin()));
        extension.neighbours = [this](const Candidate& around) {
            neighbours.push_back(entrant_of(around));
            return offer(around, [](const Candidate& one, const Candidate& other) {
                return one.variant->ps == other.variant->ps && one.pd == other.pd;
            });
        };
        extension.distance_grid = [this](const Candidate& around) {
            distance_grid.push_back(entrant_of(around));
            return offer(around, [](const Candidate& one, const Candidate& other) {
                return one.pw == other.pw &&
                       std::ranges::equal(one.variant->marked, other.variant->marked);
            });
        };
    }
    ExtendedSpace(const ExtendedSpace&) = delete;

    const Candidate& operator[](Entrant entrant) const { return at(candidates, entrant); }
    bool in_paper(Entrant entrant) const { return entrant < std::ssize(paper); }
    /// For the hot workload, or for these objectives.
    Query query(std::uint64_t seed = 1,
                const std::vector<Weights>& objectives = {equal_weights(kHot)}) const {
        return {.seed = seed,
                .objectives = objectives,
                .entrants = paper,
                .space = &candidates,
                .extension = &extension};
    }

  private:
    Entrant entrant_of(const Candidate& candidate) const {
        return Entrant(&candidate - candidates.data());
    }

    /// Offers candidates of the same registers and stages that are alike.
    template <class Alike> Entrants offer(const Candidate& one, const Alike& alike) {
        Entrants fitting = all_entrants(candidates.size());
        std::erase_if(fitting, [&](Entrant other) {
            return family_of((*this)[other]) != family_of(one) || !alike(one, (*this)[other]);
        });
        offered.insert(fitting.begin(), fitting.end());
        return fitting;
    }

    void add(const char* rt, const char* st, const char* pt, const Axes& axes, int pw) {
        using Values = std::vector<int>;
        const bool prefetches = std::string_view(pt) != "none";
        for (const int ps : prefetches ? Values{2, 6, 8, 12} : Values{0}) {
            for (const int pd : prefetches ? Values{0, 4, 8, 12, 20, 24} : Values{0}) {
                variants.push_back(made_up(rt, "T", st, pt, ps, axes));
                candidates.push_back({&variants.back(), pd, pw});
            }
        }
    }
};

/// A landscape in which each value of an extension axis has a factor of its own up to `most`, alike
/// for all families: so the best lies around the paper's best. Direct stores bring nothing.
KnownMachine::Ratios extended_landscape(const ExtendedSpace& space, std::uint64_t seed, double most,
                                        const std::vector<Workload>& workloads = kHot) {
    KnownMachine::Ratios ratios;
    for (const Workload workload : workloads) {
        Drawn draw{noise::Random(1000 + seed * 16 + ratios.size())};
        const auto effect = [&](const std::string& name) { return draw(name, 0.9 / most, most); };
        for (const Candidate& candidate : space.candidates) {
            double ratio = draw.height(candidate, 0.9, 12, 24);
            const std::string tb = value(candidate, "tb"), pw = value(candidate, "pw");
            if (tb != "2") ratio *= effect("tb" + tb);
            if (value(candidate, "pi") != "1") ratio *= effect("pi");
            if (pw != "0") ratio *= effect("pw" + pw);
            if (value(candidate, "dir") == "down") ratio *= effect("down");
            ratios[workload].push_back(ratio);
        }
    }
    return ratios;
}

} // namespace

// Where no axis is better than the paper's, it wins. A result may be undecided where libc was more
// than kWidestFloor from itself.
TEST_P(Rigors, find_what_the_extension_axes_bring_to_each_objective) {
    const ExtendedSpace space;
    const auto ratios = [&](std::uint64_t seed) { return extended_landscape(space, seed, 1.2); };
    const Shares quiet = shares_of(GetParam(), false, 10, ratios, space.query()).front();
    EXPECT_EQ(quiet.undecided, 0);
    EXPECT_GE(quiet.beyond_paper, 8);
    EXPECT_GE(quiet.worst, 0.97);
    const Shares noisy = shares_of(GetParam(), true, 10, ratios, space.query()).front();
    EXPECT_LE(noisy.undecided, 1);
    EXPECT_GE(noisy.mean(), least(0.94, 0.97));
    EXPECT_GE(noisy.worst, least(0.75, 0.90));
    const auto three = [&](std::uint64_t seed) {
        return extended_landscape(space, seed, 1.15, kThree);
    };
    for (const Shares& each :
         shares_of(GetParam(), false, 5, three, space.query(1, balanced_and_intents()))) {
        EXPECT_GE(each.worst, least(0.90, 0.95));
    }
}

// Where copies are too short to prefetch, all of one axis are the same but for their prefetching.
// Quick has too few bases to have seen the one that does not.
TEST(ExtendedSearch, give_a_tie_of_those_with_one_axis_to_the_one_without_prefetch) {
    const ExtendedSpace space;
    const auto ratios = hot_ratios(space.candidates, [](const Candidate& candidate) {
        const asterope_variant& v = *candidate.variant;
        const bool good = std::string_view(v.rt) == "ZMM" && std::string_view(v.st) == "T";
        const bool best = good && candidate.axis() == "tb" && value(candidate, "tb") == "4";
        return best ? 1.3 : good ? 1.1 : 1;
    });
    for (const char* rigor : {"standard", "exhaustive"}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            KnownMachine machine(ratios, jitter(0.002, seed));
            const Candidate& won = space[search(machine, rigor, space.query(seed)).winner()];
            EXPECT_EQ(value(won, "tb"), "4") << won.name();
            EXPECT_FALSE(won.prefetches()) << won.name();
        }
    }
}

TEST_P(Rigors, leave_the_paper_for_no_tie_but_a_neighbours_and_for_no_worse_axis) {
    const ExtendedSpace space;
    const auto neighbour = Entrant(space.candidates.size() - 5);
    const auto all_tie = hot_ratios(space.candidates, [](const auto&) { return 1.1; });
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Query query = space.query(seed);
        KnownMachine tie(all_tie, jitter(0.002, seed)),
            with_neighbour(all_tie, jitter(0.002, seed));
        const Entrant won = search(tie, GetParam(), query).winner();
        EXPECT_TRUE(space.in_paper(won)) << space[won].name();
        auto worse = extended_landscape(space, seed, 1.1);
        std::fill(worse[Workload::hot].begin() + std::ssize(space.paper),
                  worse[Workload::hot].end(), 0.85);
        KnownMachine machine(worse, noise_of_others(0.01, seed));
        EXPECT_TRUE(space.in_paper(search(machine, GetParam(), query).winner()));
        query.neighbours = {{neighbour}};
        EXPECT_EQ(search(with_neighbour, GetParam(), query).winner(), neighbour);
    }
}

TEST_P(Rigors, time_what_the_extension_offers_or_a_grid_of_it_and_nothing_else) {
    const Rigor rigor = parse_rigor(GetParam());
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        ExtendedSpace space;
        KnownMachine machine(extended_landscape(space, seed, 1.2));
        const Found found = find(machine, GetParam(), space.query());
        EXPECT_EQ(std::ssize(space.distance_grid), rigor.planes);
        EXPECT_LE(std::ssize(space.neighbours), rigor.bases);
        EXPECT_GE(std::ssize(space.neighbours), std::min(rigor.bases, 18)) << "18 families";
        for (const Entrant base : space.neighbours) EXPECT_TRUE(space.in_paper(base));
        const std::set<Entrant> timed = timed_on(machine);
        if (rigor.fine.pd.empty()) {
            for (const Entrant entrant : space.offered) EXPECT_EQ(timed.count(entrant), 1u);
        }
        std::size_t extended = 0;
        for (const Entrant entrant : timed) {
            EXPECT_TRUE(space.in_paper(entrant) || space.offered.count(entrant));
            extended += !space.in_paper(entrant);
        }
        EXPECT_EQ(found.extended, extended);
    }
}
