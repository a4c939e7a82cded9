// glibc's tunables in a process of their own: it serves trials, its end is noticed, and the choice
// among settings goes by their gains.
#include "bench/peers/remote.hpp"

#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/error.hpp"
#include "bench/peers/tuned_glibc.hpp"
#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "timing/clock.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kMiB = 1 << 20;
const char* const kNonTemporal = "x86_non_temporal_threshold";
const char* const kRepMovsb = "x86_rep_movsb_threshold";

RemoteSetup small_setup() {
    return {allowed_cpus().back(), 8 * kMiB, kMiB, kMiB};
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

class Tunables : public ::testing::Test {
  protected:
    void SetUp() override {
        if (read_machine().libc_thresholds.empty()) GTEST_SKIP() << "libc lists no tunables";
    }
};

Machine machine_with_caches() {
    Machine machine;
    machine.cpus = 8;
    machine.caches = {{1, "data", 32 << 10, 64, 8, 1},
                      {2, "unified", kMiB, 64, 8, 1},
                      {3, "unified", 32 * kMiB, 64, 16, 4}};
    return machine;
}

} // namespace

TEST(Remote, serves_trials_of_workloads_of_one_size_and_of_small_copies) {
    RemoteCopy remote({}, small_setup());
    EXPECT_GT(remote.process(), 0);
    EXPECT_NE(remote.process(), getpid());
    for (const Workload workload : {Workload::hot, Workload::hot_read, Workload::cold,
                                    Workload::consume, Workload::produce, Workload::aliased}) {
        for (const std::size_t size : {std::size_t{128}, std::size_t{100'000}, kMiB}) {
            EXPECT_GT(remote.time(size, workload, 3, 2), 0) << name_of(workload) << ' ' << size;
        }
    }
    EXPECT_GT(remote.time(0, Workload::fixed, 3, 2), 0);
}

TEST(Remote, names_a_process_that_was_killed) {
    RemoteCopy remote({}, small_setup());
    EXPECT_GT(remote.time(4096, Workload::hot, 0, 1), 0);
    ASSERT_EQ(kill(remote.process(), SIGKILL), 0);
    EXPECT_EQ(message_of([&] { remote.time(4096, Workload::hot, 1, 1); }),
              "the process that timed glibc's tunables has died");
    // and again, now that nobody is there from the start
    EXPECT_THROW(remote.time(4096, Workload::hot, 2, 1), Failure);
}

TEST(Remote, leaves_no_process_behind) {
    pid_t process = 0;
    {
        RemoteCopy remote({}, small_setup());
        process = remote.process();
    }
    EXPECT_EQ(kill(process, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST(Remote, ends_with_the_process_that_started_it) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t starter = fork();
    ASSERT_GE(starter, 0);
    if (starter == 0) {
        alarm(60);
        const RemoteCopy remote({}, small_setup());
        const pid_t process = remote.process();
        if (write(ends[1], &process, sizeof process) != sizeof process) _exit(1);
        raise(SIGKILL); // no destructor runs
    }
    close(ends[1]);
    pid_t process = 0;
    ASSERT_EQ(read(ends[0], &process, sizeof process), static_cast<ssize_t>(sizeof process));
    ASSERT_EQ(waitpid(starter, nullptr, 0), starter);
    // it holds the pipe's other end too: the end of the file comes with its end, a hang without
    char nothing;
    EXPECT_EQ(read(ends[0], &nothing, 1), 0);
    close(ends[0]);
}

TEST(Remote, says_what_keeps_the_process_from_serving) {
    RemoteSetup setup = small_setup();
    setup.arena_bytes = std::size_t{1} << 50;
    EXPECT_THROW(RemoteCopy({}, setup), Failure);
    setup = small_setup();
    setup.cpu = 12345;
    EXPECT_NE(message_of([&] { RemoteCopy({}, setup); }).find("12345"), std::string::npos);
}

TEST_F(Tunables, are_set_in_the_other_process) {
    RemoteCopy remote({{kNonTemporal, kMiB}, {kRepMovsb, 4096}}, small_setup());
    EXPECT_GT(remote.time(4096, Workload::hot, 0, 1), 0);
    // not here
    EXPECT_NE(read_machine().libc_thresholds[kRepMovsb], 4096u);
}

TEST_F(Tunables, that_glibc_does_not_know_or_beyond_their_limits_are_refused) {
    for (const LibcThresholds& bad :
         {LibcThresholds{{"x86_no_such_threshold", 1}}, LibcThresholds{{kRepMovsb, 1}},
          LibcThresholds{{kNonTemporal, 1}}}) {
        EXPECT_NE(message_of([&] {
                      RemoteCopy(bad, small_setup());
                  }).find("glibc does not take " + tunables_text(bad)),
                  std::string::npos);
    }
}

TEST_F(Tunables, have_gains_that_can_be_measured) {
    start_clock(read_cpu().invariant_tsc);
    const RemoteSetup setup = small_setup();
    const Arena arena(setup.arena_bytes);
    Stopwatch here(arena, setup.largest_size, setup.cache_bytes);
    const Gain gain = measured_gain(here, setup, {4096, kMiB}, {Workload::hot, Workload::mix_l1});
    EXPECT_GT(gain({}), 0);
    EXPECT_GT(gain({{kNonTemporal, 64 << 10}}), 0);
}

TEST(TunablesText, is_as_the_variable_has_it) {
    EXPECT_EQ(tunables_text({}), "");
    EXPECT_EQ(tunables_text({{kRepMovsb, 1024}, {kNonTemporal, 2}}),
              "glibc.cpu.x86_non_temporal_threshold=2:glibc.cpu.x86_rep_movsb_threshold=1024");
}

TEST(TunedGlibc, is_as_it_is_where_no_setting_gains) {
    std::vector<LibcThresholds> tried;
    const TunedGlibc tuned = tune_glibc(machine_with_caches(), [&](const LibcThresholds& setting) {
        tried.push_back(setting);
        return 1.009; // within the noise
    });
    EXPECT_TRUE(tuned.thresholds.empty());
    EXPECT_EQ(tuned.description, "glibc as it is: none of 5 settings of its tunables is faster");
    const std::vector<LibcThresholds> expected = {{{kNonTemporal, kMiB}},
                                                  {{kNonTemporal, 4 * kMiB}},
                                                  {{kNonTemporal, 8 * kMiB}},
                                                  {{kRepMovsb, 1024}},
                                                  {{kRepMovsb, std::size_t{1} << 50}}};
    EXPECT_EQ(tried, expected);
}

TEST(TunedGlibc, is_the_best_of_either_tunable) {
    const TunedGlibc tuned = tune_glibc(machine_with_caches(), [](const LibcThresholds& setting) {
        double gain = 1;
        if (setting.count(kNonTemporal)) gain *= setting.at(kNonTemporal) == 4 * kMiB ? 1.3 : 1.1;
        if (setting.count(kRepMovsb)) gain *= setting.at(kRepMovsb) == 1024 ? 0.9 : 1.05;
        return gain;
    });
    EXPECT_EQ(tuned.thresholds,
              (LibcThresholds{{kNonTemporal, 4 * kMiB}, {kRepMovsb, std::size_t{1} << 50}}));
    EXPECT_EQ(tuned.description,
              "glibc with GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=4194304:"
              "glibc.cpu.x86_rep_movsb_threshold=1125899906842624, best of 5 settings of its "
              "tunables");
}

TEST(TunedGlibc, needs_no_caches_that_are_known) {
    const TunedGlibc tuned = tune_glibc(Machine(), [](const LibcThresholds&) { return 2.0; });
    EXPECT_EQ(tuned.thresholds, (LibcThresholds{{kRepMovsb, 1024}}));
}

/// Not gtest's own: started again by RemoteCopy, this program serves trials.
int main(int argc, char** argv) {
    if (const auto code = serve_trials(argc, argv)) return *code;
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
