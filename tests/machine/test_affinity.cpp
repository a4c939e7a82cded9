// Pinning: to a CPU that this process may use, and to no other.
#include "machine/affinity.hpp"

#include <sched.h>

#include "support/unit_test.hpp"

TEST(AllowedCpus, ascend_and_include_the_one_that_runs_this) {
    const std::vector<int> cpus = allowed_cpus();
    ASSERT_FALSE(cpus.empty());
    EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
    EXPECT_TRUE(std::count(cpus.begin(), cpus.end(), sched_getcpu()));
}

TEST(PinToCpu, leaves_only_the_last_one_by_default) {
    const std::vector<int> before = allowed_cpus();
    EXPECT_EQ(pin_to_cpu(-1), before.back());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
}

TEST(PinToCpu, refuses_a_cpu_that_is_not_allowed) {
    EXPECT_THROW(pin_to_cpu(99999), BadInput);
    EXPECT_THROW(pin_to_cpu(allowed_cpus().back() + 1), BadInput);
}
