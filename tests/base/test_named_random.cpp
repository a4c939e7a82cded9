// Each part of a run draws by its own name: what another drew does not matter.
#include "base/named_random.hpp"

#include <gtest/gtest.h>

using asterope::named_random;

TEST(NamedRandom, is_the_same_for_the_same_name_and_seed) {
    EXPECT_EQ(named_random(1, "pipelines 128")(), named_random(1, "pipelines 128")());
}

TEST(NamedRandom, is_another_for_another_name_or_seed) {
    const auto one = named_random(1, "pipelines 128")();
    EXPECT_NE(one, named_random(1, "pipelines 256")());
    EXPECT_NE(one, named_random(2, "pipelines 128")());
    EXPECT_NE(one, named_random(std::uint64_t{1} << 32 | 1, "pipelines 128")());
    EXPECT_NE(one, named_random(1, "")());
}
