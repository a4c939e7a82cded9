// The conclusions of a watch from made-up looks, each kind just above and just below its bound.
// It tests only facts of the machine that do not depend on a clock.
#include "timing/disturbance_monitor.hpp"

#include <future>

#include "machine/affinity.hpp"
#include "support/unit_test.hpp"

namespace {

using Hits = std::vector<Disturbance>;

constexpr int kCpu = 5;
constexpr double kTickRate = 2e9; // two ticks a nanosecond
constexpr std::int64_t kMillisecond = 1'000'000;

/// A machine that does as it is told; nothing disturbs it unless a test does.
class ToldMachine {
  public:
    /// The thread works.
    void pass(std::int64_t nanoseconds) {
        now.ticks += 2 * static_cast<std::uint64_t>(nanoseconds);
        now.nanoseconds += nanoseconds;
        if (now.busy) *now.busy += nanoseconds;
    }

    /// Ends a round of 1.5 ms in which `happen()` did.
    Hits round(const std::function<void()>& happen = [] {}) {
        watch.begin_round();
        pass(750'000);
        happen();
        pass(750'000);
        return watch.end_round();
    }
    void quiet_rounds(int count) {
        for (int i = 0; i < count; ++i) ASSERT_EQ(round(), Hits{});
    }

    MachineCounters now{.ticks = 1'000'000,
                        .nanoseconds = 77 * kMillisecond,
                        .busy = 3 * kMillisecond,
                        .switches = 4,
                        .cpu = kCpu,
                        .steal = 9,
                        .cycle_ticks = 1000};
    int odd_looks = 0; ///< the next ones see half of the speed
    int looks = 0;
    DisturbanceMonitor watch{kCpu,
                             [this] {
                                 ++looks;
                                 MachineCounters counters = now;
                                 if (odd_looks > 0 && odd_looks-- > 0) *counters.cycle_ticks *= 2;
                                 return counters;
                             },
                             kTickRate};
};

} // namespace

TEST(Disturbance, is_read_back_from_its_name) {
    std::vector<std::string> names;
    for (const Disturbance disturbance : kDisturbances) {
        names.push_back(name_of(disturbance));
        EXPECT_EQ(parse_disturbance(names.back()), disturbance);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"steal", "preempted", "migrated", "frequency",
                                               "clock", "stalled"}));
    EXPECT_EQ(parse_disturbance("stea"), std::nullopt);
}

// Each just above and just below its bound: of clocks 1 % and 50 us, of a thread off the CPU 1 %
// and 1 ms.
TEST(DisturbanceMonitor, sees_what_hits_a_round_and_no_more) {
    using Happening = std::function<void(ToldMachine&)>;
    const auto skewed = [](std::int64_t nanoseconds, std::int64_t longer = 0) -> Happening {
        return [=](ToldMachine& machine) {
            machine.pass(longer);
            machine.now.ticks += static_cast<std::uint64_t>(2 * nanoseconds);
        };
    };
    const auto waits = [](std::int64_t nanoseconds, std::int64_t longer = 0) -> Happening {
        return [=](ToldMachine& machine) {
            machine.pass(longer + nanoseconds);
            *machine.now.busy -= nanoseconds;
        };
    };
    constexpr std::int64_t kLong = 10'000 * kMillisecond;
    const Hits none, clock = {Disturbance::clock}, stalled = {Disturbance::stalled};
    const std::tuple<const char*, Happening, Hits> rows[] = {
        {"stolen time", [](ToldMachine& m) { ++*m.now.steal; }, {Disturbance::steal}},
        {"counters that were reset: moved", [](ToldMachine& m) { m.now.steal = 0; }, none},
        {"a switch", [](ToldMachine& m) { ++*m.now.switches; }, {Disturbance::preempted}},
        {"clocks apart", skewed(65'100), clock},
        {"or the other way", skewed(-65'100), clock},
        {"clocks together", skewed(64'900), none},
        {"1 % of a long round", skewed(99'000'000, kLong), none},
        {"more than that", skewed(101'000'000, kLong), clock},
        {"a counter that runs backwards", skewed(-1'500'001), clock},
        {"a system clock that runs backwards",
         [](ToldMachine& m) {
             m.now.busy.reset();
             m.now.nanoseconds -= 2 * kMillisecond;
         },
         clock},
        {"off the CPU", waits(1'030'000), stalled},
        {"hardly", waits(1'020'000), none},
        {"off the CPU for 1 % of a long round", waits(100 * kMillisecond, kLong), none},
        {"more than that", waits(103 * kMillisecond, kLong), stalled},
    };
    for (const auto& [what, happen, hits] : rows) {
        ToldMachine machine;
        EXPECT_EQ(machine.round([&, &happen = happen] { happen(machine); }), hits) << what;
        EXPECT_EQ(machine.round(), Hits{}) << what;
    }
}

TEST(DisturbanceMonitor, sees_another_cpu_at_either_end) {
    ToldMachine machine;
    const Hits moved = {Disturbance::migrated};
    EXPECT_EQ(machine.round([&] { machine.now.cpu = kCpu + 1; }), moved);
    EXPECT_EQ(machine.round(), moved);
    EXPECT_EQ(machine.round([&] { machine.now.cpu = kCpu; }), moved);
    EXPECT_EQ(machine.round(), Hits{});
}

// Between two rounds anything may happen: it hits neither.
TEST(DisturbanceMonitor, sees_only_what_happens_during_a_round) {
    ToldMachine machine;
    machine.quiet_rounds(1);
    ++*machine.now.steal;
    ++*machine.now.switches;
    machine.now.nanoseconds += 5'000 * kMillisecond; // a stop that the counter slept through
    machine.quiet_rounds(1);
    machine.now.ticks = 3;
    machine.quiet_rounds(1);
}

TEST(DisturbanceMonitor, sees_a_speed_that_changes_by_more_than_5_percent_in_a_round) {
    for (const std::uint64_t speed : {950, 1050, 949, 1051, 1, 100'000}) {
        ToldMachine machine;
        const bool far = speed < 950 || speed > 1050;
        EXPECT_EQ(machine.round([&] { machine.now.cycle_ticks = speed; }),
                  far ? Hits{Disturbance::frequency} : Hits{})
            << speed;
        EXPECT_EQ(machine.round(), Hits{}) << "steady at " << speed;
    }
}

TEST(DisturbanceMonitor, takes_a_second_look_before_it_believes_that_the_speed_changed) {
    ToldMachine machine;
    EXPECT_EQ(machine.round([&] { machine.odd_looks = 1; }), Hits{});
    EXPECT_EQ(machine.looks, 3);
    EXPECT_EQ(machine.round([&] { machine.odd_looks = 2; }), Hits{Disturbance::frequency});
}

TEST(DisturbanceMonitor, concludes_nothing_from_what_it_cannot_see_or_saw_only_once) {
    const auto lose = [](ToldMachine& machine) {
        machine.now = {.ticks = machine.now.ticks, .nanoseconds = machine.now.nanoseconds};
    };
    ToldMachine blind;
    lose(blind);
    blind.quiet_rounds(20);
    EXPECT_EQ(blind.round([&] { blind.now.ticks = 0; }), Hits{Disturbance::clock});
    ToldMachine first;
    EXPECT_EQ(first.round([&] { lose(first); }), Hits{});
    ToldMachine second;
    lose(second);
    EXPECT_EQ(second.round([&] {
        second.now.busy = 0;
        second.now.switches = 99;
        second.now.cpu = kCpu;
        second.now.steal = 99;
        second.now.cycle_ticks = 1;
    }),
              Hits{});
}

// Somebody else may set a thread loose (taskset): it is seen.
TEST(LookAtMachine, sees_the_cpu_that_the_thread_is_pinned_to_and_one_that_moved) {
    const auto pinned = [] {
        const int cpu = pin_to_cpu(-1);
        const auto look = counters_of_machine(cpu);
        const MachineCounters first = look(), second = look();
        EXPECT_TRUE(first.cpu == cpu && second.cpu == cpu);
        EXPECT_GE(second.nanoseconds, first.nanoseconds);
        EXPECT_GT(first.cycle_ticks.value(), 0u);
        EXPECT_GE(second.switches.value(), first.switches.value());
        DisturbanceMonitor watch(cpu + 1);
        watch.begin_round();
        const Hits hits = watch.end_round();
        EXPECT_TRUE(std::count(hits.begin(), hits.end(), Disturbance::migrated));
    };
    std::async(std::launch::async, pinned).get(); // the other threads stay loose
}
