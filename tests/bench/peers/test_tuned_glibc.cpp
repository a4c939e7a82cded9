// glibc's tunables for the comparison: the choice among settings goes by their gains.
#include "bench/peers/tuned_glibc.hpp"

#include <gtest/gtest.h>

#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "machine/libc.hpp"
#include "machine/machine.hpp"
#include "timing/clock.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kMiB = 1 << 20;

Machine machine_with_caches() {
    Machine machine;
    machine.cpus = 8;
    machine.caches = {{1, "data", 32 << 10, 64, 8, 1},
                      {2, "unified", kMiB, 64, 8, 1},
                      {3, "unified", 32 * kMiB, 64, 16, 4}};
    return machine;
}

} // namespace

TEST(TunedGlibc, has_gains_that_can_be_measured) {
    if (read_machine().libc_thresholds.empty()) GTEST_SKIP() << "libc lists no tunables";
    start_clock(read_cpu().invariant_tsc);
    const RemoteSetup setup{allowed_cpus().back(), 8 * kMiB, kMiB, kMiB};
    const Arena arena(setup.arena_bytes);
    Stopwatch here(arena, setup.largest_size, setup.cache_bytes);
    const Gain gain = measured_gain(here, setup, {4096, kMiB}, {Workload::hot, Workload::mix_l1});
    EXPECT_GT(gain({}), 0);
    EXPECT_GT(gain({{kNonTemporalThreshold, 64 << 10}}), 0);
}

TEST(TunedGlibc, is_as_it_is_where_no_setting_gains) {
    std::vector<LibcThresholds> tried;
    const TunedGlibc tuned = tune_glibc(machine_with_caches(), [&](const LibcThresholds& setting) {
        tried.push_back(setting);
        return 1.009; // within the noise
    });
    EXPECT_TRUE(tuned.thresholds.empty());
    EXPECT_EQ(tuned.description, "glibc as it is: none of 5 settings of its tunables is faster");
    const std::vector<LibcThresholds> expected = {{{kNonTemporalThreshold, kMiB}},
                                                  {{kNonTemporalThreshold, 4 * kMiB}},
                                                  {{kNonTemporalThreshold, 8 * kMiB}},
                                                  {{kRepMovsbThreshold, 1024}},
                                                  {{kRepMovsbThreshold, std::size_t{1} << 50}}};
    EXPECT_EQ(tried, expected);
}

TEST(TunedGlibc, is_the_best_of_either_tunable) {
    const TunedGlibc tuned = tune_glibc(machine_with_caches(), [](const LibcThresholds& setting) {
        double gain = 1;
        if (setting.count(kNonTemporalThreshold))
            gain *= setting.at(kNonTemporalThreshold) == 4 * kMiB ? 1.3 : 1.1;
        if (setting.count(kRepMovsbThreshold))
            gain *= setting.at(kRepMovsbThreshold) == 1024 ? 0.9 : 1.05;
        return gain;
    });
    EXPECT_EQ(tuned.thresholds, (LibcThresholds{{kNonTemporalThreshold, 4 * kMiB},
                                                {kRepMovsbThreshold, std::size_t{1} << 50}}));
    EXPECT_EQ(tuned.description,
              "glibc with GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=4194304:"
              "glibc.cpu.x86_rep_movsb_threshold=1125899906842624, best of 5 settings of its "
              "tunables");
}

TEST(TunedGlibc, needs_no_caches_that_are_known) {
    const TunedGlibc tuned = tune_glibc(Machine(), [](const LibcThresholds&) { return 2.0; });
    EXPECT_EQ(tuned.thresholds, (LibcThresholds{{kRepMovsbThreshold, 1024}}));
}

/// Not gtest's own: started again by RemoteCopy, this program serves trials.
int main(int argc, char** argv) {
    if (const auto code = serve_trials(argc, argv)) return *code;
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
