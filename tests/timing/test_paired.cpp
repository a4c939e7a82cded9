// Paired rounds: the order changes, and slow phases cancel out. The entrants, their cache effects
// and disturbed rounds are tested with races (tests/search/test_race.cpp).
#include "timing/paired.hpp"

#include "support/unit_test.hpp"

namespace {

/// Timings by a function: the seconds of a sample's parts.
struct MadeUpParts : Timings {
    using Parts = std::function<std::vector<double>(Entrant, Workload, std::uint64_t round)>;
    explicit MadeUpParts(Parts made_up) : parts(std::move(made_up)) {}
    Sample sample(const SampleRequest& asked) override {
        const std::vector<double> all = parts(asked.entrant, asked.workload, asked.round);
        return {.ns = all.front() * 1e9, .parts = all};
    }
    Parts parts;
};

} // namespace

// In rotation each entrant would always follow the same other one, as in an order by cache effect.
TEST(Paired, lets_everybody_follow_everybody_whatever_leaves_the_caches_alike) {
    const std::vector<TimedCopy> alike(4);
    std::vector<TimedCopy> own(4);
    for (int i = 0; i < 4; ++i) own[static_cast<std::size_t>(i)].cache_effect = i;
    for (const std::vector<TimedCopy>& copies : {alike, own}) {
        std::vector<Entrant> order;
        MadeUpParts timings([&](Entrant entrant, Workload, std::uint64_t) {
            order.push_back(entrant);
            return std::vector{1.0};
        });
        const Paired paired({0, 1, 2, 3}, {Workload::hot}, 40, 0, {timings, copies, {}});
        std::set<std::pair<Entrant, Entrant>> neighbours;
        std::set<Entrant> first;
        for (std::size_t i = 0; i < order.size(); i += 4) {
            first.insert(order[i]);
            for (std::size_t j = i + 1; j < i + 4; ++j) neighbours.insert({order[j - 1], order[j]});
        }
        EXPECT_EQ(neighbours.size(), 4u * 3);
        EXPECT_EQ(first.size(), 4u);
    }
}

// Times double from round to round; entrant 1 is twice and four times as fast.
TEST(Paired, compares_each_part_of_a_sample_by_itself_and_within_its_round) {
    MadeUpParts timings([](Entrant entrant, Workload, std::uint64_t round) {
        const double all = static_cast<double>(1 << round);
        if (entrant == 2) return std::vector{all * 1.25, all};
        return entrant == 1 ? std::vector{all / 2, all / 4} : std::vector{all, all};
    });
    const Paired paired({0, 1, 2}, {Workload{}}, 9, 0, timings);
    const std::tuple<int, std::size_t, double> rows[] = {
        {1, 0, 2}, {1, 1, 4}, {2, 0, 0.8}, {2, 1, 1}};
    for (const auto& [under, part, ratio] : rows) {
        EXPECT_NEAR(paired.ratio(0, under, part).low, ratio, 1e-9);
        EXPECT_NEAR(paired.ratio(0, under, part).high, ratio, 1e-9);
    }
    EXPECT_NEAR(paired.seconds(0), 16, 1e-9); // of 1, 2, ... 256
    EXPECT_NEAR(paired.seconds(1, 1), 4, 1e-9);
}

// Slow hot rounds are not slow cold ones: the mean is taken in each round, before the median.
TEST(Paired, mean_over_workloads_is_of_each_round_however_slow_the_machine_is_in_some) {
    MadeUpParts timings([](Entrant entrant, Workload workload, std::uint64_t round) {
        const double slow[] = {1e-6, 40e-6, 1e-6};
        const double hot[] = {1, 4, 16}, cold[] = {16, 4, 1};
        const auto& faster = workload == Workload::hot ? hot : cold;
        return std::vector{slow[round] * (entrant == 1 ? 1 : faster[round])};
    });
    const Paired paired({0, 1}, {Workload::hot, Workload::cold}, 3, 0, timings);
    const Estimate mean =
        paired.mean_log_ratio(0, 1, {{Workload::hot, 0.5}, {Workload::cold, 0.5}});
    EXPECT_NEAR(std::exp(mean.low), 4, 1e-12);
    EXPECT_NEAR(std::exp(mean.high), 4, 1e-12);
    const Estimate hot = paired.ratio(0, 1, Workload::hot);
    EXPECT_NEAR(hot.low, 1, 1e-12);
    EXPECT_NEAR(hot.median, 4, 1e-12);
    EXPECT_NEAR(hot.high, 16, 1e-12);
    EXPECT_NEAR(paired.seconds(0, Workload::hot), 16e-6, 1e-15);
}

TEST(Paired, times_a_seldom_workload_in_the_first_of_so_many_rounds_and_weighs_it_in_all) {
    std::vector<std::pair<Workload, std::uint64_t>> timed;
    MadeUpParts timings([&](Entrant entrant, Workload workload, std::uint64_t round) {
        if (entrant == 1) return std::vector{1.0};
        timed.emplace_back(workload, round);
        if (workload == Workload::hot) return std::vector{2.0};
        return std::vector{round < 10 + 3 ? 4.0 : 16.0};
    });
    const Paired paired({0, 1}, {Workload::hot, {Workload::fresh, 3}}, 5, 10, timings);
    const std::vector<std::pair<Workload, std::uint64_t>> expected = {
        {Workload::hot, 10}, {Workload::fresh, 10}, {Workload::hot, 11}, {Workload::hot, 12},
        {Workload::hot, 13}, {Workload::fresh, 13}, {Workload::hot, 14}};
    EXPECT_EQ(timed, expected);
    EXPECT_EQ(paired.rounds(0, Workload::hot), 5u);
    EXPECT_EQ(paired.rounds(0, Workload::fresh), 2u);
    std::vector<double> ratios =
        paired.log_ratios(0, 1, {{Workload::hot, 0.5}, {Workload::fresh, 0.5}});
    for (double& ratio : ratios) ratio = std::exp(2 * ratio);
    ASSERT_EQ(ratios.size(), 5u);
    for (const std::size_t round : {0, 1, 2}) EXPECT_NEAR(ratios[round], 2 * 4, 1e-9);
    for (const std::size_t round : {3, 4}) EXPECT_NEAR(ratios[round], 2 * 16, 1e-9);
    EXPECT_EQ(paired.log_ratios(0, 1, {{Workload::fresh, 1}}).size(), 2u);
}
