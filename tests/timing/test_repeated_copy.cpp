// The number of calls that take the wanted time: a single timing does not decide it.
#include "timing/repeated_copy.hpp"

#include "support/unit_test.hpp"

TEST(CallsThatTake, are_found_although_two_timings_of_five_are_wrong) {
    for (const double wrong : {0.01, 100.0}) {
        int timings = 0;
        const std::size_t calls = calls_that_take(
            1e-3, [&](std::size_t) { return 1e-7 * (timings++ % 5 % 2 ? wrong : 1); });
        EXPECT_NEAR(static_cast<double>(calls), 10000, 100) << wrong;
    }
}
