// The team: every thread takes each sample, on a CPU and on buffers of its own.
#include "bench/threads.hpp"

#include <mutex>
#include <sched.h>

#include "machine/affinity.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace {

struct Seen {
    std::size_t calls;
    const char *first, *last; ///< of what was written to
};
std::mutex mutex;
std::map<int, Seen> seen; ///< by the CPU of who asked

/// Copies nothing and remembers who asked.
void* note_caller(void* destination, const void*, std::size_t bytes, std::size_t) {
    const std::lock_guard lock(mutex);
    const char* begin = static_cast<const char*>(destination);
    Seen& own = seen.try_emplace(sched_getcpu(), Seen{0, begin, begin + bytes}).first->second;
    ++own.calls;
    own.first = std::min(own.first, begin);
    own.last = std::max(own.last, begin + bytes);
    return destination;
}

/// Gives the thread of the tests its CPUs back.
class TeamTest : public ::testing::Test {
  protected:
    void SetUp() override {
        start_clock(false);
        seen.clear();
        sched_getaffinity(0, sizeof before_, &before_);
        cpus = allowed_cpus();
        pin_to_cpu(cpus.front());
    }
    void TearDown() override { sched_setaffinity(0, sizeof before_, &before_); }

    std::vector<int> cpus;

  private:
    cpu_set_t before_;
};

} // namespace

TEST(ThreadCounts, are_powers_of_two_and_all) {
    EXPECT_EQ(thread_counts(1), std::vector<int>{1});
    EXPECT_EQ(thread_counts(6), (std::vector<int>{1, 2, 4, 6}));
    EXPECT_EQ(thread_counts(8), (std::vector<int>{1, 2, 4, 8}));
}

TEST_F(TeamTest, copies_on_every_cpu_into_buffers_that_nobody_shares) {
    Team team(cpus, 8 * kMiB, 65536, 0);
    for (const Workload workload : {Workload::hot, Workload::cold}) {
        seen.clear();
        team.calibrate(65536, workload);
        EXPECT_GT(team.time({note_caller, 0, 1}, workload, 65536, 0), 0);
        ASSERT_EQ(seen.size(), cpus.size());
        for (const auto& [cpu, own] : seen) {
            EXPECT_EQ(std::count(cpus.begin(), cpus.end(), cpu), 1);
            // hot: a thread that had to wait for the mutex looks hopeless, and is given up early
            EXPECT_TRUE(workload == Workload::hot || own.calls == seen.begin()->second.calls);
            for (const auto& [other_cpu, other] : seen) {
                EXPECT_TRUE(other_cpu == cpu || own.last <= other.first || other.last <= own.first);
            }
        }
    }
}

TEST_F(TeamTest, begins_hot_samples_in_each_state_of_the_caches) {
    Machine machine;
    machine.usable_bytes = machine.memory_bytes = 96 * kMiB;
    machine.caches = {{3, "unified", 8 * kMiB, 64, 16, 1}};
    const Contenders contenders = {{"libc", "", note_caller}, {"asterope", "", note_caller}};
    const CallStatistics fleet = fleet_statistics();
    const std::vector<Workload> workloads;
    const Setting setting{machine, contenders, fleet, workloads};
    const std::vector<Suite> suites = thread_suites(setting, {cpus.front()}, {65536});
    const Job& hot = suites.front().jobs.front();
    ASSERT_EQ(hot.workload, "hot");
    hot.prepare();
    std::vector<const char*> begins;
    for (const std::uint64_t round : {0, 1}) {
        seen.clear();
        hot.time(contenders[1], round, 1);
        begins.push_back(seen.begin()->second.first);
    }
    EXPECT_GT(std::abs(begins[0] - begins[1]), std::ptrdiff_t{kMiB}) << "cached in both rounds";
}

TEST_F(TeamTest, throws_what_goes_wrong_on_any_thread) {
    EXPECT_THROW(Team(cpus, std::size_t{1} << 60, 4096, 0), Failure);
    Team team(cpus, 8 * kMiB, 4096, 0);
    team.calibrate(4096, Workload::hot);
    EXPECT_ANY_THROW(team.time({libc_copy(), 0, 0}, Workload::hot, 8192, 0)); // not calibrated
}
