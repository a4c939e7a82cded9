// What times copies without a log repeats disturbed rounds and says when that was not enough.
#include "timing/monitored_rounds.hpp"

#include <gtest/gtest.h>

using namespace asterope;

namespace {

/// A machine that preempts the thread in every round of `disturbed`, or in none.
struct PreemptingMachine {
    bool disturbs = false;
    std::int64_t switches = 0;

    DisturbanceMonitor watch() {
        return DisturbanceMonitor(
            0,
            [this] {
                MachineCounters glance;
                glance.switches = disturbs ? switches++ : switches;
                return glance;
            },
            1e9);
    }
};

/// One round of two trials, until it counts. Returns how often it was timed.
int time_round(MonitoredRounds& rounds) {
    int times = 0;
    do {
        ++times;
        EXPECT_EQ(rounds.time([] { return 7; }), 7);
        EXPECT_EQ(rounds.time([] { return 8.5; }), 8.5);
    } while (rounds.disturbed());
    return times;
}

} // namespace

TEST(MonitoredRounds, repeats_what_was_disturbed_and_counts_all) {
    PreemptingMachine machine;
    MonitoredRounds rounds(machine.watch());
    EXPECT_EQ(time_round(rounds), 1);
    machine.disturbs = true;
    EXPECT_EQ(time_round(rounds), 4);
    machine.disturbs = false;
    EXPECT_EQ(time_round(rounds), 1);
    const DisturbanceCounts facts = rounds.facts();
    EXPECT_EQ(facts.rounds, 6u);
    EXPECT_EQ(facts.repeated, 3u);
    EXPECT_EQ(facts.kept, 1u);
    EXPECT_EQ(facts.disturbed, (std::map<std::string, std::size_t>{{"preempted", 4}}));
}

TEST(MonitoredRounds, counts_no_round_in_which_nothing_was_timed_under_watch) {
    PreemptingMachine machine;
    machine.disturbs = true;
    MonitoredRounds rounds(machine.watch());
    EXPECT_FALSE(rounds.disturbed());
    EXPECT_EQ(rounds.facts().rounds, 0u);
}

TEST(MonitoredRounds, has_free_repetitions_in_each_step) {
    PreemptingMachine machine;
    machine.disturbs = true;
    MonitoredRounds rounds(machine.watch());
    for (int i = 0; i < 3; ++i) time_round(rounds); // which takes what is free
    EXPECT_EQ(time_round(rounds), 1);
    rounds.enter_step();
    EXPECT_EQ(time_round(rounds), 4);
}
