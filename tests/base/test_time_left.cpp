// The time left, of made-up work: what was said at any moment beside what then came.
#include "base/time_left.hpp"

#include <gtest/gtest.h>

using namespace asterope;

TEST(TimeLeft, is_the_plan_until_something_is_done) {
    TimeLeft left;
    EXPECT_EQ(left.seconds(), 0);
    EXPECT_EQ(left.share_done(), 0);
    left.plan("screening", 30);
    left.plan("rows", 10);
    EXPECT_DOUBLE_EQ(left.seconds(), 40);
}

TEST(TimeLeft, goes_by_each_steps_own_rate_and_by_that_of_all_until_there_is_one) {
    TimeLeft left;
    left.plan("screening", 30);
    left.plan("rows", 10);
    left.plan("exam", 5);
    left.done("screening", 10, 20);
    EXPECT_DOUBLE_EQ(left.seconds(), 2 * (20 + 10 + 5));
    left.done("screening", 20, 40);
    left.done("rows", 2, 20);
    EXPECT_DOUBLE_EQ(left.seconds(), 8 * 10 + 5 * 80 / 32.0) << "rows are slow, the exam unknown";
    EXPECT_DOUBLE_EQ(left.share_done(), 32 / 45.0);
}

TEST(TimeLeft, counts_what_was_timed_in_vain) {
    TimeLeft left;
    left.plan("screening", 30);
    left.done("screening", 10, 10);
    left.done("screening", 0, 10); // disturbed: again
    EXPECT_DOUBLE_EQ(left.seconds(), 40);
    TimeLeft never;
    never.plan("rows", 5);
    never.done("rows", 0, 3);
    EXPECT_DOUBLE_EQ(never.seconds(), 5) << "no rate";
}

TEST(TimeLeft, takes_no_rate_from_a_steps_first_rounds) {
    TimeLeft left;
    left.plan("screening", 100);
    left.plan("sensing", 100);
    left.done("screening", 100, 100);
    left.done("sensing", 0.1, 3); // mostly preparing
    EXPECT_LT(left.seconds(), 110);
}

TEST(TimeLeft, takes_no_rate_from_an_earlier_run) {
    TimeLeft left;
    left.plan("screening", 30);
    left.done_before("screening", 20);
    EXPECT_DOUBLE_EQ(left.seconds(), 10);
    left.done("screening", 5, 15);
    EXPECT_DOUBLE_EQ(left.seconds(), 15);
}

TEST(TimeLeft, is_never_less_than_nothing_and_forgets_what_a_step_left_out) {
    TimeLeft left;
    left.plan("screening", 30);
    left.plan("rows", 10);
    left.done("screening", 50, 50);
    EXPECT_DOUBLE_EQ(left.seconds(), 10);
    left.end("rows");
    EXPECT_DOUBLE_EQ(left.seconds(), 0);
    EXPECT_DOUBLE_EQ(left.share_done(), 1);
}

// 76 s came where "19 s left" was said: rows and exam were in no plan, and were slower.
TEST(TimeLeft, is_about_right_half_way_through_a_run_whose_steps_differ) {
    TimeLeft left;
    const struct {
        const char* step;
        double planned, rate;
    } steps[] = {{"screening", 40, 2.0}, {"run-off", 10, 2.4}, {"rows", 12, 2.2}, {"exam", 6, 2.5}};
    double truth = 0;
    for (const auto& one : steps) left.plan(one.step, one.planned);
    for (const auto& one : steps) truth += one.planned * one.rate;
    for (const auto& one : steps) {
        for (int i = 0; i < 10; ++i) {
            left.done(one.step, one.planned / 10, one.planned * one.rate / 10);
            truth -= one.planned * one.rate / 10;
            EXPECT_NEAR(left.seconds(), truth, 0.15 * truth + 1) << one.step << ' ' << i;
        }
    }
}
