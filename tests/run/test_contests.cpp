// Rows of one size alone are kept or not, by the rounds of contests whose truth is known.
#include "run/contests.hpp"

#include "support/known_machine.hpp"
#include "support/unit_test.hpp"

namespace {

const Weights kHot = {{Workload::hot, 1}};
const RowCopy kSensing = {{0, 0, 1}, true}, kPlain = RowCopy::plain(1);

/// A run-off among as many entrants as there are `ratios`, libc's time over theirs.
Race race_among(std::vector<double> ratios) {
    const std::vector<Entrant> all = all_entrants(ratios.size());
    KnownMachine machine({{Workload::hot, std::move(ratios)}}, jitter(0.02, 1));
    Race race(4096, std::vector{kHot}, machine);
    race.run_off(all, 11, kLibc);
    return race;
}

/// The rows that are left of three, of which the second takes one size alone. `together`: its copy
/// was timed beside the sensing copy, too.
std::size_t rows_left(double plain, double sensing, bool together) {
    Contests contests;
    contests.contestants = {0, 1};
    contests.standing.resize(3);
    contests.at_size.assign(3, {race_among({1, plain}), {}});
    contests.sensing.push_back({nullptr, {kSensing, {0, 0, 0}}, {}});
    SensingRace race{race_among({sensing, plain}), {{kSensing, nullptr}}};
    if (together) race.entrants.emplace_back(kPlain, nullptr);
    contests.sensing_races.emplace(1, std::move(race));
    const std::vector<SizeScores> scores(3, {{0, 0}});
    return contests.beyond_chance({{0, 0, kSensing}, {1, 1, kPlain}, {2, 2, kSensing}}, scores)
        .size();
}

} // namespace

TEST(Contests, keep_a_row_of_one_size_alone_where_it_is_ahead_of_its_neighbours_beyond_chance) {
    for (const bool together : {true, false}) {
        EXPECT_EQ(rows_left(1.2, 1.1, together), 3u) << together;
        EXPECT_EQ(rows_left(1.1, 1.1, together), 1u) << together;
        EXPECT_EQ(rows_left(1.0, 1.1, together), 1u) << together;
    }
}

TEST(Contests, keep_a_row_of_one_size_alone_where_its_neighbours_may_not_go_on) {
    Contests contests;
    contests.contestants = {0, 1};
    contests.standing.resize(2);
    contests.at_size.assign(2, {race_among({1, 1}), {}});
    const std::vector<Row> rows = {{0, 0, RowCopy::plain(0)}, {1, 1, kPlain}};
    EXPECT_EQ(contests.beyond_chance(rows, {{{0, 0}}, {{0, 0}}}).size(), 1u);
    const double never = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(contests.beyond_chance(rows, {{{0, never}}, {{never, 0}}}), rows);
}

// Else a row would end there by noise alone.
TEST(Contests, crown_the_copy_of_a_row_where_noise_hid_the_fastest_and_say_so) {
    Contests contests;
    contests.contestants = {0, 1};
    const Race race = race_among({1, 1.2});
    contests.at_size = {{race, {race.won_by(0)}}};
    contests.at_size[0].results[0].undecided = true;
    PipelineFacts facts;
    facts.found.push_back({contests.at_size[0].results});
    contests.crown(0, 0, 1, facts);
    EXPECT_EQ(facts.found[0].results[0].winner(), 1);
    EXPECT_TRUE(facts.found[0].results[0].undecided);
}

TEST(Contests, let_a_set_store_past_the_caches_only_where_a_reader_gains_by_it_and_none_loses) {
    struct Case {
        double hot, hot_read, cold, consume;
        bool may;
    };
    const Case cases[] = {{3, 1.3, 3, 1.4, true},
                          {1, 1, 1.5, 1.2, true},
                          {2, 1.01, 3, 1.02, false}, // no reader gains
                          {2, 0.8, 3, 1.2, false},
                          {0.5, 1.1, 3, 1.2, false}};
    for (const auto& [hot, hot_read, cold, consume, may] : cases) {
        const std::map<Workload, double> ratios = {{Workload::hot, hot},
                                                   {Workload::hot_read, hot_read},
                                                   {Workload::cold, cold},
                                                   {Workload::consume, consume}};
        const auto ratio = [&](Workload workload) { return ratios.at(workload); };
        Weights all;
        for (const auto& one : ratios) all.emplace_back(one.first, 0.25);
        EXPECT_EQ(may_set_past_caches(all, ratio), may) << hot_read << ' ' << consume;
        // asked for a situation without a reader, none can gain
        EXPECT_TRUE(may_set_past_caches({{Workload::cold, 1}}, ratio));
    }
}
