// Two modes are found if a sample has two, and only then. The samples are made up.
#include "base/modes.hpp"

#include <random>

#include "base/text.hpp"
#include "support/unit_test.hpp"

namespace {

using Draw = double (*)(std::mt19937_64&);

const Draw noisy = [](auto& r) { return std::exp(std::normal_distribution<>(0, 0.01)(r)); };
const Draw uniform = [](auto& r) { return std::uniform_real_distribution<>(1, 2)(r); };
const Draw tailed = [](auto& r) { return 1 + std::exponential_distribution<>(5)(r); };
const Draw in_steps = [](auto& r) { return std::round(std::normal_distribution<>(10, 0.6)(r)); };

/// So many values, each of `draw`, whose share `share` is multiplied by `apart`.
std::vector<double> sample(int count, double share, double apart, Draw draw) {
    std::mt19937_64 random(5);
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(1e-6 * draw(random) * (i < share * count ? apart : 1));
    }
    return values;
}

} // namespace

TEST(TwoModes, are_found_with_their_medians_and_the_share_of_the_higher) {
    for (const int count : {21, 200, 5000}) {
        for (const double share : {0.15, 0.5, 0.85}) {
            const auto modes = two_modes(sample(count, share, 1.3, noisy));
            ASSERT_TRUE(modes) << count << ' ' << share;
            EXPECT_NEAR(modes->low, 1e-6, 2e-8);
            EXPECT_NEAR(modes->high, 1.3e-6, 3e-8);
            EXPECT_NEAR(modes->share, share, 1.0 / count + 1e-9);
        }
    }
}

TEST(TwoModes, are_not_found_in_one_hump_nor_where_they_lie_close_or_one_is_rare) {
    for (const int count : {21, 200, 5000}) {
        for (const auto& draw : {noisy, uniform, tailed, in_steps}) {
            EXPECT_FALSE(two_modes(sample(count, 0, 1, draw))) << count;
        }
        EXPECT_FALSE(two_modes(sample(count, 0.5, 1.02, noisy))) << count;
        EXPECT_FALSE(two_modes(sample(count, 0.04, 1.3, noisy))) << count;
    }
    EXPECT_FALSE(two_modes(sample(19, 0.5, 1.3, noisy)));
    std::vector<double> ticks(90, 20e-9); // of a clock of 10 ns, with a late one
    ticks.insert(ticks.end(), {1700e-9, 1710e-9});
    ticks.insert(ticks.end(), 20, 10e-9);
    EXPECT_FALSE(two_modes(ticks));
    ticks.assign(20, 20e-9); // its values are not quite multiples of its step
    ticks.insert(ticks.end(), 33, 29.9e-9);
    ticks.insert(ticks.end(), 33, 30.3e-9);
    ticks.insert(ticks.end(), 14, 40.1e-9);
    EXPECT_FALSE(two_modes(ticks));
    EXPECT_NEAR(clock_step(ticks), 9.8e-9, 0.2e-9);
    EXPECT_FALSE(two_modes(std::vector<double>(50, 3)));
    EXPECT_FALSE(two_modes(std::vector<double>(50, 0)));
}

TEST(TwoModes, are_drawn_as_two_humps_and_one_is_not_told) {
    const auto text = [](double seconds) { return formatted("%.2f us", seconds * 1e6); };
    const auto [lines, json] = modes_told("4 KiB", sample(100, 0.5, 2, noisy), "s", text);
    ASSERT_EQ(lines.size(), 13u);
    EXPECT_EQ(json["of"], "4 KiB");
    EXPECT_NEAR(json["high"].get<double>(), 2e-6, 4e-8);
    EXPECT_NEAR(json["from"].get<double>() + 12 * json["width"].get<double>(), 2e-6, 1e-7);
    const auto counts = json["counts"].get<std::vector<int>>();
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 100);
    EXPECT_TRUE(counts.front() > 0 && counts[6] == 0 && counts.back() > 0);
    EXPECT_TRUE(mentions(lines[0], "4 KiB: two modes, 1.00 us and 2.00 us (50 %)"));
    EXPECT_TRUE(mentions(lines[1], "###"));
    EXPECT_FALSE(mentions(lines[6], "#"));
    EXPECT_TRUE(mentions(lines[12], "###"));
    const ToldModes one = modes_told("4 KiB", sample(100, 0, 2, noisy), "s", text);
    EXPECT_TRUE(one.lines.empty() && one.json.is_null());
}
