// glibc's tunables in a process of their own: it serves samples, and its end is noticed.
#include "timing/remote_copy.hpp"

#include <cerrno>
#include <csignal>

#include "machine/affinity.hpp"
#include "machine/libc.hpp"
#include "machine/machine.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"

const RemoteSetup kSmall{allowed_cpus().back(), 8 * kMiB, kMiB, kMiB};

// Interrupts are for the process that started it.
TEST(Remote, calibrates_and_serves_samples_despite_interrupts_and_leaves_no_process_behind) {
    std::optional<RemoteCopy> remote(std::in_place, LibcThresholds{}, kSmall);
    const pid_t process = remote->process();
    const Calibration calibration = remote->calibrate(4096, Workload::hot);
    EXPECT_GT(calibration.calls, 1u);
    EXPECT_GT(calibration.seconds, 0);
    for (const Workload workload : {Workload::hot, Workload::hot_read, Workload::cold,
                                    Workload::consume, Workload::produce, Workload::aliased}) {
        for (const std::size_t size : {std::size_t{128}, std::size_t{100'000}, kMiB}) {
            EXPECT_GT(remote->time(size, workload, 3, {2, 0}), 0)
                << name_of(workload) << ' ' << size;
        }
    }
    for (const int interrupt : {SIGINT, SIGTERM, SIGHUP}) ASSERT_EQ(kill(process, interrupt), 0);
    EXPECT_GT(remote->time(0, Workload::fixed, 3, {2, 0}), 0);
    remote.reset();
    EXPECT_EQ(kill(process, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST(Remote, names_a_process_that_was_killed_or_hangs) {
    RemoteSetup setup = kSmall;
    setup.patience = 1;
    const std::pair<int, const char*> cases[] = {
        {SIGKILL, "the process that timed glibc's tunables has died"},
        {SIGSTOP, "the process that times glibc's tunables has not answered for 1 seconds: it "
                  "hangs, or was stopped"}};
    for (const auto& [signal, said] : cases) {
        RemoteCopy remote({}, setup);
        const auto time = [&] { remote.time(4096, Workload::hot, 0, {1, 0}); };
        time();
        ASSERT_EQ(kill(remote.process(), signal), 0);
        EXPECT_EQ(refusal_of<Error>(time), said);
        if (signal == SIGKILL) {
            EXPECT_THROW(time(), Failure) << "nobody is there from the start";
        }
    }
}

TEST(Remote, ends_with_the_process_that_started_it) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto start = [] {
        const RemoteCopy remote({}, kSmall);
        raise(SIGKILL); // no destructor runs
    };
    EXPECT_EXIT(start(), ::testing::KilledBySignal(SIGKILL), "");
    close(ends[1]);
    // it holds the pipe's other end too: the end of the file comes with its end, a hang without
    char nothing;
    EXPECT_EQ(read(ends[0], &nothing, 1), 0);
    close(ends[0]);
}

TEST(Remote, says_what_keeps_the_process_from_serving) {
    RemoteSetup setup = kSmall;
    setup.arena_bytes = std::size_t{1} << 50;
    EXPECT_THROW(RemoteCopy({}, setup), Failure);
    setup = kSmall;
    setup.cpu = 12345;
    EXPECT_TRUE(mentions(refusal_of<Error>([&] { RemoteCopy({}, setup); }), "12345"));
}

TEST(Remote, tells_the_tunables_that_hold_there_and_refuses_what_glibc_does_not_take) {
    const LibcThresholds here = read_machine().libc_thresholds;
    if (here.empty()) GTEST_SKIP() << "libc lists no tunables";
    const RemoteCopy as_it_is({}, kSmall);
    EXPECT_EQ(as_it_is.thresholds().at(kRepMovsbThreshold), here.at(kRepMovsbThreshold));
    const RemoteCopy set({{kRepMovsbThreshold, 8192}}, kSmall);
    EXPECT_EQ(set.thresholds().at(kRepMovsbThreshold), 8192u);
    EXPECT_EQ(set.thresholds().at(kNonTemporalThreshold), here.at(kNonTemporalThreshold));
    for (const LibcThresholds& bad :
         {LibcThresholds{{"x86_no_such_threshold", 1}}, LibcThresholds{{kRepMovsbThreshold, 1}},
          LibcThresholds{{kNonTemporalThreshold, 1}}}) {
        EXPECT_TRUE(mentions(refusal_of<Error>([&] { RemoteCopy(bad, kSmall); }),
                             "glibc does not take " + tunables_text(bad)));
    }
}

TEST(TunablesVariable, goes_on_with_what_is_set_already) {
    const char* const before = getenv("GLIBC_TUNABLES");
    const std::string kept = before ? before : "", perturb = "glibc.malloc.perturb=1",
                      rep = "glibc.cpu.x86_rep_movsb_threshold=",
                      non_temporal = "glibc.cpu.x86_non_temporal_threshold=";
    const std::tuple<std::string, LibcThresholds, std::string> rows[] = {
        {"", {}, ""},
        {"", {{kRepMovsbThreshold, 1}}, rep + "1"},
        {perturb, {}, perturb},
        {perturb, {{kRepMovsbThreshold, 1}}, perturb + ':' + rep + "1"},
        {rep + "2:" + perturb, {{kRepMovsbThreshold, 1}}, perturb + ':' + rep + "1"},
        {rep + "2:" + perturb,
         {{kNonTemporalThreshold, 1}},
         rep + "2:" + perturb + ':' + non_temporal + "1"}};
    for (const auto& [set, thresholds, expected] : rows) {
        set.empty() ? unsetenv("GLIBC_TUNABLES") : setenv("GLIBC_TUNABLES", set.c_str(), 1);
        EXPECT_EQ(tunables_variable(thresholds), expected);
    }
    before ? setenv("GLIBC_TUNABLES", kept.c_str(), 1) : unsetenv("GLIBC_TUNABLES");
}

/// Not gtest's own: started again by RemoteCopy, this program serves samples.
int main(int argc, char** argv) {
    if (const auto code = serve_samples(argc, argv)) return *code;
    start_clock(false);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
