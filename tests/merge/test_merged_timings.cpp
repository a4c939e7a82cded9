// A race by several logs: each round against its reference, and the mean over machines.
#include "merge/merged_timings.hpp"

#include "support/unit_test.hpp"

namespace {

Record sample(std::uint64_t round, const std::string& candidate, double ns,
              Workload workload = Workload::hot) {
    return std::pair(SampleKey{4096, workload, candidate, round}, Sample{ns, 10, true});
}

LoggedRace race(const std::vector<Record>& records) {
    return LoggedRace(records, Step::pipelines);
}

const Weights kHot = {{Workload::hot, 1}, {Workload::cold, 0}};

} // namespace

TEST(LoggedRace, compares_in_each_round_with_the_median_of_its_references) {
    const LoggedRace logged = race({sample(1, "libc", 8), sample(1, "a", 5), sample(1, "libc", 10),
                                    sample(1, "libc", 30), sample(2, "libc", 6), sample(2, "a", 6),
                                    sample(2, "a", 7, Workload::cold)}); // without libc: cut short
    const auto& samples = logged.samples.at(Workload::hot).at("a");
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_DOUBLE_EQ(samples[0], std::log(2.0));
    EXPECT_DOUBLE_EQ(samples[1], 0);
    EXPECT_EQ(logged.samples.at(Workload::hot).at(kReference).size(), 4u);
    EXPECT_EQ(logged.reference_ns.at(Workload::hot), 9);
    EXPECT_EQ(logged.samples.count(Workload::cold), 0u);
}

TEST(LoggedRace, forgets_a_disturbed_round_that_was_timed_again) {
    const Record hit = std::vector{Disturbance::steal};
    const LoggedRace logged = race(
        {sample(1, "libc", 99), sample(1, "a", 1), hit, sample(1, "libc", 10), sample(1, "a", 5)});
    ASSERT_EQ(logged.samples.at(Workload::hot).at("a").size(), 1u);
    EXPECT_DOUBLE_EQ(logged.samples.at(Workload::hot).at("a")[0], std::log(2.0));
}

TEST(CommonRace, knows_who_was_timed_on_all_machines) {
    const CommonRace common({race({sample(1, "libc", 10), sample(1, "a", 5), sample(1, "b", 10.2)}),
                             race({sample(1, "libc", 10), sample(1, "a", 10.5), sample(1, "b", 9),
                                   sample(1, "c", 1)})});
    EXPECT_TRUE(common.timed("a", kHot));
    EXPECT_FALSE(common.timed("a", kHot, 2));
    EXPECT_FALSE(common.timed("c", kHot));
    EXPECT_FALSE(common.timed("a", {{Workload::cold, 1}}));
    EXPECT_DOUBLE_EQ(common.score(0, "a", kHot), std::log(2.0));
}

TEST(MergedTimings, are_geometric_means_over_the_machines_the_last_samples_first) {
    const LoggedStep pipelines{Step::pipelines, 4096}, rows{Step::rows, 4096}, small{Step::small};
    const LoggedSteps one = {{pipelines, {sample(1, "libc", 10), sample(1, "a", 1)}},
                             {rows, {sample(2, "libc", 10), sample(2, "a", 5)}},
                             {small, {}}};
    const LoggedSteps other = {{pipelines, {sample(1, "libc", 40), sample(1, "a", 5)}}};
    MergedTimings timings({&one, &other});
    EXPECT_TRUE(timings.has(pipelines, "a"));
    EXPECT_FALSE(timings.has(pipelines, "b"));
    EXPECT_FALSE(timings.has(small));
    timings.enter(pipelines);
    const TimedCopy libc{.name = "libc"}, a{.name = "a"};
    const auto seconds = [&](const TimedCopy& copy, std::uint64_t round) {
        return timings.sample({copy, kLibc, 4096, Workload::hot, round}).seconds();
    };
    EXPECT_NEAR(seconds(libc, 0), 20e-9, 1e-15);
    EXPECT_NEAR(20e-9 / seconds(a, 0), std::sqrt(2.0 * 8), 1e-9);
    EXPECT_NEAR(20e-9 / seconds(a, 1), std::sqrt(10.0 * 8), 1e-9);
    EXPECT_NEAR(seconds(a, 2), seconds(a, 0), 1e-15);
}
