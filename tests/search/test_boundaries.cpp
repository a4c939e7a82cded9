// The size at which winners change places is found as exactly as promised, with few samples. It is
// always between the sizes at which they won.
#include "search/boundaries.hpp"

#include "support/unit_test.hpp"

namespace {

constexpr std::size_t kLine = 64;

/// Of boundaries, as standard and exhaustive have it.
constexpr double kRatio = 1.07;

/// A copy that holds up to `last` bytes, and the questions asked.
struct KnownSwitch {
    std::size_t last;
    std::set<std::size_t> tried = {};
    std::set<std::pair<Entrant, Entrant>> compared = {};

    bool operator()(std::size_t size) {
        EXPECT_TRUE(tried.insert(size).second) << size << " again";
        return size <= last;
    }
    bool operator()(Entrant lower, Entrant upper, std::size_t size) {
        compared.emplace(lower, upper);
        return (*this)(size);
    }
};

/// Neighbours among the powers of two, and odd ones.
const std::pair<std::size_t, std::size_t> kPairs[] = {
    {128, 256}, {4096, 8192}, {28672, 32768}, {8192, 9216},       {128, 192},
    {128, 130}, {130, 1000},  {1000, 1001},   {1048577, 2097152}, {128, 33554432},
    {1, 300},   {500, 640},   {4095, 4096},   {36864, 3145728},   {1048576, 1 << 30}};

} // namespace

// The found size is at most 7 % or a line away from the change. Each step halves the ratio's
// logarithm, but for the bytes that lines round away.
TEST(FindBoundary, finds_a_switch_as_exactly_as_promised_by_few_whole_lines_and_none_twice) {
    for (const auto& [from, to] : kPairs) {
        const double steps =
            std::log(static_cast<double>(to) / static_cast<double>(from)) / std::log(kRatio);
        const double bound = std::ceil(std::log2(std::max(1.0, steps))) + 1;
        const std::size_t step = std::max<std::size_t>(1, (to - from) / 997);
        for (std::size_t last = from; last < to; last += step) {
            SCOPED_TRACE(std::to_string(from) + ".." + std::to_string(to));
            KnownSwitch known{last};
            const std::size_t found = find_boundary(from, to, kRatio, std::ref(known));
            ASSERT_LE(found, last);
            ASSERT_GE(found, from);
            const double reach = std::max(static_cast<double>(found) * kRatio,
                                          static_cast<double>(found / kLine * kLine + kLine));
            ASSERT_LT(static_cast<double>(last), reach);
            for (const std::size_t size : known.tried) {
                ASSERT_EQ(size % kLine, 0u);
                ASSERT_TRUE(from < size && size < to);
            }
            ASSERT_TRUE(found == from || known.tried.count(found)) << found << " was never tried";
            ASSERT_LE(static_cast<double>(known.tried.size()), bound);
        }
    }
    KnownSwitch known{4200}; // the sizes are near enough
    EXPECT_EQ(find_boundary(4096, 4352, kRatio, std::ref(known)), 4096u);
    EXPECT_TRUE(known.tried.empty());
}

TEST(FindIntervals, has_one_for_each_size_from_0_to_the_last_and_compares_neighbours_unlike) {
    KnownSwitch known{3000};
    EXPECT_TRUE(find_intervals({}, {}, kRatio, std::ref(known)).empty());
    const auto intervals =
        find_intervals({128, 1024, 8192, 65536}, {7, 7, 5, 5}, kRatio, std::ref(known));
    ASSERT_EQ(intervals.size(), 4u);
    std::size_t above = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        EXPECT_EQ(intervals[i].above, above);
        EXPECT_EQ(intervals[i].result, i);
        above = intervals[i].up_to;
    }
    EXPECT_EQ(intervals[0].up_to, 128u);
    EXPECT_LE(intervals[1].up_to, 3000u);
    EXPECT_GT(static_cast<double>(intervals[1].up_to) * kRatio, 3000.0);
    EXPECT_EQ(intervals[2].up_to, 8192u);
    EXPECT_EQ(intervals[3].up_to, 65536u);
    for (const std::size_t size : known.tried) EXPECT_TRUE(1024 < size && size < 8192);
    EXPECT_EQ(known.compared, (std::set<std::pair<Entrant, Entrant>>{{7, 5}}));
}
