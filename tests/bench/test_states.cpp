// The suite states: where its buffers lie.
#include "bench/suite.hpp"
#include "timing/clock.hpp"
#include "timing/made_calls.hpp"

TEST(StateSuites, have_buffers_that_do_not_alias_in_any_round) {
    start_clock(false);
    const Machine machine;
    const Contenders contenders = {{"libc", "", remember}, {"asterope", "", remember}};
    const CallStatistics fleet = fleet_statistics();
    const std::vector<Workload> workloads;
    const Setting setting{machine, contenders, fleet, workloads};
    const Arena arena(4 * kMiB);
    std::set<std::string> seen, aliased;
    for (const Suite& suite : state_suites(setting, arena, {65536})) {
        for (const Job& job : suite.jobs) {
            if (job.workload == "spread") continue; // at any distance, as programs have them
            seen.insert(job.workload);
            if (job.prepare) job.prepare();
            for (std::uint64_t round = 0; round < 64; ++round) {
                calls.clear();
                job.time(contenders[1], round, 1);
                ASSERT_FALSE(calls.empty());
                if (!std::ranges::all_of(calls, far_apart)) aliased.insert(job.workload);
            }
        }
    }
    EXPECT_EQ(aliased, std::set<std::string>{});
    EXPECT_EQ(seen,
              (std::set<std::string>{"again", "cached in turn", "produced in turn", "across"}));
}
