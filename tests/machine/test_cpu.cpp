// An architecture's file offers these beside its description.
#include "machine/cpu.hpp"

#include <cstdint>
#include <sys/prctl.h>
#include <unistd.h>

#include "support/unit_test.hpp"

TEST(Counter, serves_nobody_and_is_no_clock_where_it_is_forbidden) {
    int mode = 0;
    if (prctl(PR_GET_TSC, &mode) != 0) GTEST_SKIP() << "PR_SET_TSC does not work here";
    for (bool (*const question)() :
         {+[] { return why_no_sensing().empty(); }, +[] { return read_cpu().invariant_tsc; }}) {
        const auto answer = [=] { // the counter is not read to find that out: that ends in SIGSEGV
            _exit(prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0 || question());
        };
        EXPECT_EXIT(answer(), testing::ExitedWithCode(0), "");
    }
}

TEST(Counter, never_goes_back) {
    EXPECT_TRUE(!why_no_sensing().empty() || read_cpu().invariant_tsc);
    if (!read_cpu().invariant_tsc) GTEST_SKIP() << "no counter to rely on";
    std::uint64_t last = counter_now();
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t now = counter_now();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(ZeroAfterLoad, is_zero_whatever_is_loaded) {
    alignas(64) char bytes[64];
    for (const int value : {0x00, 0x01, 0x80, 0xFF}) {
        for (char& byte : bytes) byte = static_cast<char>(value);
        for (const int width : {1, 8, 16, 32}) {
            if (width > widest_load()) continue;
            EXPECT_EQ(zero_after_load(bytes, width), 0u) << width;
            EXPECT_EQ(zero_after_load(bytes + 3, width), 0u) << width; // at any address
            EXPECT_EQ(zero_after_load(bytes + 64 - width, width), 0u) << width;
        }
    }
}
