// A copy for aliasing buffers is taken where it gains, on neighbouring sizes, and nowhere else.
#include "search/aliased_search.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "support/known_machine.hpp"

namespace asterope {
namespace {

AliasedSize of(std::size_t size, std::vector<double> gains) {
    return {size, {1, 1, 1}, {1, 1, 1}, 0, std::move(gains)};
}

TEST(ChooseAliased, takes_none_where_there_is_nothing_to_choose_from) {
    EXPECT_FALSE(choose_aliased({}));
    EXPECT_FALSE(choose_aliased({of(512, {})}));
}

TEST(ChooseAliased, takes_none_where_gains_are_smaller_than_they_must_be) {
    EXPECT_FALSE(choose_aliased({of(512, {1.04, 0.9}), of(1024, {1.0, 1.049})}));
}

TEST(ChooseAliased, takes_the_one_that_gains_on_the_sizes_on_which_it_does) {
    const auto choice = choose_aliased(
        {of(512, {1.0, 0.8}), of(1024, {1.06, 1.5}), of(2048, {1.06, 1.4}), of(4096, {1.06, 1.0})});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->variant, 1u);
    EXPECT_EQ(choice->above, 512u);
    EXPECT_EQ(choice->up_to, 2048u);
}

TEST(ChooseAliased, begins_at_the_least_such_a_copy_can_do) {
    const auto choice = choose_aliased({of(1024, {2.0}), of(2048, {2.0})});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->above, kAliasedMinimum - 1);
    EXPECT_EQ(choice->up_to, 2048u);
}

TEST(ChooseAliased, bridges_no_size_on_which_it_does_not_gain) {
    const auto choice =
        choose_aliased({of(512, {1.2}), of(1024, {1.0}), of(2048, {3.0}), of(4096, {1.1})});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->above, 1024u);
    EXPECT_EQ(choice->up_to, 4096u);
}

TEST(ChooseAliased, counts_no_gain_that_noise_may_have_made) {
    AliasedSize lost = of(2048, {9.0});
    lost.undecided = true;
    const auto choice = choose_aliased({of(1024, {1.2}), lost, of(4096, {1.1})});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->up_to, 1024u);
    EXPECT_FALSE(choose_aliased({lost}));
}

/// libc takes 4, the pipeline 2, the copies what they are given.
class Known : public TimingsInSeconds {
  public:
    explicit Known(std::vector<double> copies) : copies_(std::move(copies)) {}
    double seconds(std::size_t, Workload workload, Entrant entrant, std::uint64_t) override {
        EXPECT_EQ(workload, Workload::aliased);
        if (entrant < 0) return 4;
        return entrant == 0 ? 2 : copies_.at(static_cast<std::size_t>(entrant) - 1);
    }

  private:
    std::vector<double> copies_;
};

TEST(SearchAliased, measures_every_copy_against_the_pipeline_and_names_the_best) {
    Known timings({2.5, 1.0, 3.0});
    std::mt19937_64 random(1);
    const AliasedSize found = search_aliased(3, 4096, parse_rigor("quick"), random, timings);
    EXPECT_EQ(found.size, 4096u);
    EXPECT_EQ(found.variant, 1u);
    EXPECT_NEAR(found.pipeline.median, 2, 1e-9);
    EXPECT_NEAR(found.best.median, 4, 1e-9);
    ASSERT_EQ(found.gains.size(), 3u);
    EXPECT_NEAR(found.gains[0], 0.8, 1e-9);
    EXPECT_NEAR(found.gains[1], 2, 1e-9);
    EXPECT_NEAR(found.gains[2], 2.0 / 3, 1e-9);
}

/// Every timing is off by a factor of its own.
class Loud : public Known {
  public:
    using Known::Known;
    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        return Known::seconds(size, workload, entrant, round) *
               std::exp(2 * noise::normal(random_));
    }

  private:
    noise::Random random_{1};
};

TEST(SearchAliased, says_where_noise_hid_the_differences) {
    Loud timings({2.5, 1.9, 3.0});
    std::mt19937_64 random(1);
    EXPECT_TRUE(search_aliased(3, 4096, parse_rigor("quick"), random, timings).undecided);
}

} // namespace
} // namespace asterope
