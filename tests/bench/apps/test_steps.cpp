// What applications share: which trials are compared, their table, and buffers past a page.
#include "bench/apps/steps.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "bench/apps/user_buffer.hpp"

using namespace asterope;

TEST(Steps, every_copy_runs_once_in_every_round) {
    std::map<std::uint64_t, std::multiset<int>> ran;
    compare_steps(7, [&](int copy, std::uint64_t round) {
        ran[round].insert(copy);
        return std::vector<double>{1, 2};
    });
    ASSERT_EQ(ran.size(), 7u);
    for (const auto& [round, copies] : ran) {
        EXPECT_EQ(copies, (std::multiset<int>{kAppLibc, kAppRoutine, kAppLibcAgain})) << round;
    }
}

TEST(Steps, each_is_compared_by_itself_and_within_its_round) {
    // libc's times double from round to round; the routine is twice and four times as fast
    const std::vector<Step> steps = compare_steps(9, [](int copy, std::uint64_t round) {
        const double libc = static_cast<double>(1 << round);
        if (copy == kAppLibcAgain) return std::vector<double>{libc * 1.25, libc};
        return copy == kAppRoutine ? std::vector<double>{libc / 2, libc / 4}
                                   : std::vector<double>{libc, libc};
    });
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_NEAR(steps[0].ratio.median, 2, 1e-9);
    EXPECT_NEAR(steps[0].ratio.low, 2, 1e-9);
    EXPECT_NEAR(steps[0].floor.median, 0.8, 1e-9);
    EXPECT_NEAR(steps[1].ratio.high, 4, 1e-9);
    EXPECT_NEAR(steps[1].floor.median, 1, 1e-9);
    EXPECT_NEAR(steps[0].libc, 16, 1e-9); // of 1, 2, ... 256
    EXPECT_NEAR(steps[1].ours, 4, 1e-9);
}

TEST(Steps, rows_and_summary_say_what_was_measured) {
    const Step step{2e-6, 1e-6, {1.234, 1.2, 1.25}, {1, 0.99, 1.01}};
    const std::string header = step_header("step "), row = step_row("read ", step, 4000);
    EXPECT_EQ(row, "read        2.0       1.0       4.00    1.23  (1.20..1.25)  (0.99..1.01)\n");
    EXPECT_EQ(header.find("(low"), row.find("(1.20"));
    EXPECT_EQ(ratio_summary("end to end", {2, 0.5, 1}),
              "end to end: 1.00 geometric mean, least 0.50");
}

TEST(UserBuffer, begins_as_far_past_a_page_as_it_was_told_to) {
    for (const std::size_t past_page : {0, 16, 4088}) {
        for (const std::size_t bytes : {1, 4096, 100000}) {
            void* const memory = allocate_buffer(bytes, past_page);
            ASSERT_NE(memory, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % kPageBytes, past_page);
            std::memset(memory, 1, bytes); // a sanitizer or valgrind sees whether it has the room
            free_buffer(memory);
        }
    }
}
