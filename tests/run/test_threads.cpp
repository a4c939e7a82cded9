// Copies over threads: the number of threads that each size gets.
#include "run/steps.hpp"
#include "support/unit_test.hpp"

namespace {

/// Two threads beside one, which they beat by this ratio or do not.
SizeResult sharing(std::size_t size, double ratio) {
    const Finalist alone{0, {}, 1, false},
        several{1, {{Workload::cold, {2e5, 3e5, {1.5, 1.4, 1.6}}}}, ratio, false};
    const bool won = ratio > 1;
    return {size, {won ? several : alone, won ? alone : several}, {}, 15};
}

} // namespace

TEST(ChoicesOfShares, begin_at_the_first_size_at_which_several_threads_win) {
    const std::vector<ThreadShare> shares = {{}, {2, 65536}};
    const std::vector<Choice> rows =
        choices_beside(ChoiceKind::threads, Operation::copy, among(shares),
                       {sharing(1024, 0.9), sharing(2048, 1.5), sharing(4096, 0.8)});
    ASSERT_EQ(rows.size(), 3u);
    const std::tuple<std::size_t, std::size_t, unsigned, double> expected[] = {
        {1023, 2047, 1, 1}, {2047, 2048, 2, 1.5}, {2048, 4096, 1, 1}};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(std::tuple(rows[i].above, rows[i].up_to, rows[i].share().threads, rows[i].ratio),
                  expected[i]);
    }
    EXPECT_EQ(std::get<ThreadShare>(rows[0].runners_up.at(0).copy).threads, 2u);
}
