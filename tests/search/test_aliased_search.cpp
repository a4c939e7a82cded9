// A copy for aliasing buffers is taken where it gains, on neighbouring sizes, and nowhere else; the
// one for overlapping buffers is the simplest of the best.
#include "search/aliased_search.hpp"

#include <gtest/gtest.h>

#include "support/known_machine.hpp"

namespace asterope {
namespace {

/// The pipeline is as fast as libc; so much faster are the copies.
SizeResult of(std::size_t size, std::vector<double> gains) {
    SizeResult at{size, {}, {}, 9};
    gains.insert(gains.begin(), 1);
    for (std::size_t i = 0; i < gains.size(); ++i) {
        const Estimate ratio{gains[i], gains[i], gains[i]};
        at.finalists.push_back(
            {static_cast<Entrant>(i), {{Workload::aliased, {1, 1, ratio}}}, gains[i], false});
    }
    return at;
}

// At least 5 %; from the least such a copy can do on; over no size at which it does not gain.
TEST(ChooseAliased, takes_the_one_that_gains_most_on_the_sizes_on_which_it_does) {
    SizeResult lost_in_noise = of(2048, {9.0});
    lost_in_noise.undecided = true;
    const std::pair<std::vector<SizeResult>, std::optional<AliasedChoice>> cases[] = {
        {{}, {}},
        {{of(512, {})}, {}},
        {{of(512, {1.04, 0.9}), of(1024, {1.0, 1.049})}, {}},
        {{of(512, {1, 0.8}), of(1024, {1.06, 1.5}), of(2048, {1.06, 1.4}), of(4096, {1.06, 1})},
         {{1, 512, 2048}}},
        {{of(1024, {2.0}), of(2048, {2.0})}, {{0, kAliasedMinimum - 1, 2048}}},
        {{of(512, {1.2}), of(1024, {1.0}), of(2048, {3.0}), of(4096, {1.1})}, {{0, 1024, 4096}}},
        {{of(1024, {1.2}), lost_in_noise, of(4096, {1.1})}, {{0, kAliasedMinimum - 1, 1024}}},
        {{lost_in_noise}, {}},
    };
    for (const auto& [sizes, expected] : cases) {
        const auto choice = choose_aliased(sizes);
        ASSERT_EQ(choice.has_value(), expected.has_value());
        if (!choice) continue;
        EXPECT_EQ(choice->variant, expected->variant);
        EXPECT_EQ(choice->above, expected->above);
        EXPECT_EQ(choice->up_to, expected->up_to);
    }
}

// --- Overlapping buffers -------------------------------------------------------------------------

/// libc takes 4, the copies what they are given.
class KnownCopies : public TimingsInSeconds {
  public:
    explicit KnownCopies(std::vector<double> copies) : copies_(std::move(copies)) {}
    double seconds(std::size_t size, Workload workload, Entrant entrant, std::uint64_t) override {
        EXPECT_EQ(size, 0u);
        EXPECT_EQ(workload, Workload::overlapping);
        return entrant < 0 ? 4 : copies_.at(static_cast<std::size_t>(entrant));
    }

  private:
    std::vector<double> copies_;
};

SizeResult search(const std::vector<double>& seconds) {
    KnownCopies timings(seconds);
    std::mt19937_64 random(1);
    return search_overlapping(seconds.size(), parse_rigor("quick"), random, timings);
}

int winner(const std::vector<double>& seconds) {
    return search(seconds).finalists.front().candidate;
}

TEST(SearchOverlapping, takes_the_fastest_whatever_libc_does) {
    EXPECT_EQ(winner({8, 7, 6}), 2);
    EXPECT_EQ(winner({3, 2, 3}), 1);
    EXPECT_NEAR(search({8, 7, 5}).finalists.front().ratio, 0.8, 1e-9);
}

TEST(SearchOverlapping, takes_the_simplest_of_those_that_are_as_good) {
    EXPECT_EQ(winner({3, 2, 1.99}), 1);
    EXPECT_EQ(winner({2, 2, 2}), 0);
}

} // namespace
} // namespace asterope
