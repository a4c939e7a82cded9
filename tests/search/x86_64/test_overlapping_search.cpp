// The copy for overlapping buffers is the simplest of the best.
#include "search/aliased_search.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/known_machine.hpp"

namespace asterope {
namespace {

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

TEST(SearchOverlapping, keeps_all_it_timed) {
    EXPECT_EQ(search({3, 2, 1}).finalists.size(), 3u);
    EXPECT_THROW(search({}), Failure);
}

} // namespace
} // namespace asterope
