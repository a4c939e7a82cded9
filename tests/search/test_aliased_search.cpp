// A copy for aliasing buffers is taken on neighbouring sizes at which it gains, and at no other
// size. The copy for overlapping buffers is the simplest of the best.
#include "search/aliased_search.hpp"

#include "support/known_machine.hpp"
#include "support/unit_test.hpp"

namespace {

/// The pipeline is as fast as libc; so much faster are the copies.
SizeResult of(std::size_t size, std::vector<double> gains) {
    SizeResult at{size, {}, {}, 9};
    gains.insert(gains.begin(), 1);
    for (std::size_t i = 0; i < gains.size(); ++i) {
        const Estimate ratio{gains[i], gains[i], gains[i]};
        at.finalists.push_back({Entrant(i), {{Workload::aliased, {1, 1, ratio}}}, gains[i], false});
    }
    return at;
}

/// The variant, above, up to.
using Parts = std::optional<std::tuple<std::size_t, std::size_t, std::size_t>>;

Parts chosen(const std::vector<SizeResult>& sizes) {
    const auto choice = choose_aliased(sizes);
    return choice ? Parts({choice->variant, choice->above, choice->up_to}) : std::nullopt;
}

// At least 5 %; from the least such a copy can do on; over no size at which it does not gain.
TEST(ChooseAliased, takes_the_one_that_gains_most_on_the_sizes_on_which_it_does) {
    SizeResult lost_in_noise = of(2048, {9.0});
    lost_in_noise.undecided = true;
    const std::pair<std::vector<SizeResult>, Parts> cases[] = {
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
    for (const auto& [sizes, expected] : cases) EXPECT_EQ(chosen(sizes), expected);
}

/// libc's time over the copies', by a few bytes and by about a page.
SizeResult search(const std::vector<double>& ratios, const std::vector<double>& pages) {
    KnownMachine machine({{Workload::overlapping, ratios}, {Workload::overlapping_pages, pages}});
    const SizeResult result = search_overlapping(ratios.size(), parse_rigor("quick"), machine);
    for (const auto& call : machine.calls) EXPECT_EQ(std::get<0>(call), 0u);
    return result;
}

TEST(SearchOverlapping, takes_the_fastest_whatever_libc_does_and_of_those_as_good_the_simplest) {
    EXPECT_NEAR(search({0.5, 0.6, 0.8}, {0.5, 0.6, 0.8}).finalists.front().ratio, 0.8, 1e-9);
    const std::pair<std::vector<double>, Entrant> cases[] = {
        {{0.5, 0.6, 0.8}, 2}, {{1.3, 2, 1.3}, 1}, {{1.3, 2, 2.01}, 1}, {{2, 2, 2}, 0}};
    for (const auto& [ratios, winner] : cases) EXPECT_EQ(search(ratios, ratios).winner(), winner);
}

TEST(SearchOverlapping, takes_none_that_gains_by_a_few_bytes_and_loses_as_much_by_a_page) {
    EXPECT_EQ(search({1, 1.5}, {1, 0.7}).winner(), 0);
    EXPECT_EQ(search({1, 1.5}, {1, 0.95}).winner(), 1);
}

} // namespace
