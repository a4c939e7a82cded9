// The time left, for made-up work: the estimate at any moment beside the time that then passed.
#include "base/progress.hpp"

#include "support/unit_test.hpp"

TEST(TimeLeft, goes_by_each_steps_own_rate_and_by_that_of_all_until_there_is_one) {
    TimeLeft left;
    EXPECT_EQ(left.seconds(), 0);
    EXPECT_EQ(left.share_done(), 0);
    left.plan("screening", 30);
    left.plan("rows", 10);
    left.plan("exam", 5);
    EXPECT_DOUBLE_EQ(left.seconds(), 45) << "the plan, until something is done";
    left.done("screening", 10, 20);
    EXPECT_DOUBLE_EQ(left.seconds(), 2 * (20 + 10 + 5));
    left.done("screening", 20, 40);
    left.done("rows", 2, 20);
    EXPECT_DOUBLE_EQ(left.seconds(), 8 * 10 + 5 * 80 / 32.0) << "rows are slow, the exam unknown";
    EXPECT_DOUBLE_EQ(left.share_done(), 32 / 45.0);
}

TEST(TimeLeft, counts_vain_timings_and_takes_no_rate_from_a_beginning_or_an_earlier_run) {
    TimeLeft again, never, beginning, resumed;
    for (TimeLeft* left : {&again, &resumed}) left->plan("screening", 30);
    again.done("screening", 10, 10);
    again.done("screening", 0, 10); // disturbed
    EXPECT_DOUBLE_EQ(again.seconds(), 40);
    never.plan("rows", 5);
    never.done("rows", 0, 3);
    EXPECT_DOUBLE_EQ(never.seconds(), 5) << "no rate";
    for (const char* step : {"screening", "sensing"}) beginning.plan(step, 100);
    beginning.done("screening", 100, 100);
    beginning.done("sensing", 0.1, 3); // mostly preparing
    EXPECT_LT(beginning.seconds(), 110);
    resumed.done_before("screening", 20);
    EXPECT_DOUBLE_EQ(resumed.seconds(), 10);
    resumed.done("screening", 5, 15);
    EXPECT_DOUBLE_EQ(resumed.seconds(), 15);
}

TEST(TimeLeft, is_never_less_than_nothing_and_forgets_the_rest_of_a_step_that_ended) {
    TimeLeft left;
    left.plan("screening", 30);
    left.plan("rows", 10);
    left.done("screening", 50, 50);
    EXPECT_DOUBLE_EQ(left.seconds(), 10);
    left.end("rows");
    EXPECT_DOUBLE_EQ(left.seconds(), 0);
    EXPECT_DOUBLE_EQ(left.share_done(), 1);
}
