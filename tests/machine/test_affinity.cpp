// Pinning: to a CPU that this process may use, and to no other.
#include "machine/affinity.hpp"

#include <sched.h>

#include "support/unit_test.hpp"

// A CPU that it may not use is refused in the tests of commands (tests/run/test_refusals.py).
TEST(PinToCpu, leaves_only_the_last_of_the_allowed_ones_by_default) {
    const std::vector<int> cpus = allowed_cpus();
    EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
    EXPECT_TRUE(std::count(cpus.begin(), cpus.end(), sched_getcpu()));
    EXPECT_EQ(pin_to_cpu(-1), cpus.back());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{cpus.back()});
}
