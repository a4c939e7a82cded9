// A part of a run has its share of the time that was left when it began.
#include "timing/budget.hpp"

#include "support/unit_test.hpp"

namespace {

bool is_spent(const Budget& budget) {
    try {
        budget.throw_if_spent();
        return false;
    } catch (const BudgetSpent&) {
        return true;
    }
}

/// A budget that nobody waits for: of 100 hours, of which this many are over.
Budget after(double hours) {
    const auto over = std::chrono::seconds(static_cast<long>(hours * 3600));
    return Budget(100 * 3600.0, Budget::Clock::now() - over);
}

} // namespace

TEST(Budget, ends_when_it_is_spent_and_never_without_seconds) {
    EXPECT_FALSE(is_spent(after(99)));
    EXPECT_TRUE(is_spent(after(101)));
    EXPECT_FALSE(is_spent(Budget(std::nullopt, Budget::Clock::time_point())));
}

TEST(Budget, gives_a_part_its_share_of_what_was_left) {
    Budget budget = after(80);
    budget.begin_part(0.85);
    EXPECT_FALSE(is_spent(budget));
    budget.allow(0);
    EXPECT_TRUE(is_spent(budget));
    budget.begin_part(1);
    budget.allow(0.75); // until 95 hours
    EXPECT_FALSE(is_spent(budget));
}

TEST(Budget, is_spent_where_a_part_begins_too_late) {
    Budget budget = after(90);
    budget.begin_part(0.85);
    budget.allow(0.75);
    EXPECT_TRUE(is_spent(budget));
    budget.begin_part(1);
    EXPECT_FALSE(is_spent(budget));
}
