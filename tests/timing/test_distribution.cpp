// Call statistics: drawn as the file says, and a bad file is refused with line and column.
#include "timing/distribution.hpp"

#include <cmath>
#include <map>

#include "base/error.hpp"
#include "support/mentions.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;

namespace {

/// The share of sizes up to `size`.
double share(const Distribution& distribution, std::size_t size) {
    double up_to = 0, all = 0;
    for (const auto& [value, probability] : distribution.pairs()) {
        all += probability;
        if (value <= size) up_to += probability;
    }
    return up_to / all;
}

std::map<std::size_t, double> drawn(const Distribution& distribution, int draws) {
    std::mt19937_64 random(1);
    std::map<std::size_t, double> shares;
    for (int i = 0; i < draws; ++i) shares[distribution.draw(random)] += 1.0 / draws;
    return shares;
}

/// The message with which `text` is refused; empty if it is not.
std::string fault(const std::string& text) {
    return refusal_of([&] { parse_statistics(text, "calls.csv"); });
}

std::string at(int line, int column, const std::string& why) {
    return "distribution calls.csv, line " + std::to_string(line) + ", column " +
           std::to_string(column) + ": " + why;
}

const std::string kNumber = "expected a number of bytes", kProbability = "expected a probability",
                  kSum = "the probabilities of this line do not add up to 1",
                  kAlignment = "expected an alignment of 1 to 4096 bytes";

using StatisticsFile = TemporaryFolder;

} // namespace

// --- What is drawn -------------------------------------------------------------------------------

// As its own page says of it.
TEST(Fleet, calls_are_small) {
    const CallStatistics fleet = fleet_statistics();
    EXPECT_EQ(fleet.name, "fleet");
    EXPECT_NEAR(share(fleet.sizes, 16), 0.635, 0.0005);
    EXPECT_NEAR(share(fleet.sizes, 64), 0.886, 0.0005);
    EXPECT_NEAR(share(fleet.sizes, 128), 0.936, 0.0005);
    EXPECT_NEAR(share(fleet.sizes, 1024), 0.988, 0.0005);
    double bytes = 0, large = 0;
    for (const auto& [size, probability] : fleet.sizes.pairs()) {
        bytes += probability * static_cast<double>(size);
        if (size > 512) large += probability * static_cast<double>(size);
    }
    EXPECT_NEAR(large / bytes, 0.8, 0.05);
}

// As Google says of its calls of memset.
TEST(Fleet, sets_are_larger_than_copies_on_average) {
    const CallStatistics fleet = fleet_statistics(Operation::set);
    EXPECT_EQ(fleet.name, "fleet");
    EXPECT_NEAR(share(fleet.sizes, 128), 0.84, 0.005);
    double bytes = 0, above_1_kib = 0;
    for (const auto& [size, probability] : fleet.sizes.pairs()) {
        bytes += probability * static_cast<double>(size);
        if (size > 1024) above_1_kib += probability * static_cast<double>(size);
    }
    EXPECT_NEAR(bytes, 324, 1);
    EXPECT_NEAR(above_1_kib / bytes, 0.775, 0.001);
}

// Files are rounded: the last value must not get what is missing, nor lose what is too much.
TEST(Distribution, draws_each_value_by_its_share_of_the_sum_and_none_of_probability_0) {
    const Distribution distribution(
        {{1, 0}, {3, 0.49}, {5, 0}, {100, 0.1225}, {7, 0.3675}, {9, 0}});
    const auto shares = drawn(distribution, 100000);
    ASSERT_EQ(shares.size(), 3u);
    EXPECT_NEAR(shares.at(3), 0.5, 0.01);
    EXPECT_NEAR(shares.at(100), 0.125, 0.01);
    EXPECT_NEAR(shares.at(7), 0.375, 0.01);
}

// --- Good files ----------------------------------------------------------------------------------

TEST(ParseStatistics, reads_all_three_lines) {
    const CallStatistics calls =
        parse_statistics("0:0.25,8:0.5,100:.25\n0:1,1:0\n1:0.5,64:5e-1\n", "calls.csv");
    using Pairs = std::vector<std::pair<std::size_t, double>>;
    EXPECT_EQ(calls.name, "calls.csv");
    EXPECT_EQ(calls.sizes.pairs(), (Pairs{{0, 0.25}, {8, 0.5}, {100, 0.25}}));
    EXPECT_EQ(calls.alignments.pairs(), (Pairs{{1, 0.5}, {64, 0.5}}));
}

TEST(ParseStatistics, takes_every_address_where_no_alignments_are_given) {
    for (const char* text : {"8:1", "8:1\n", "8:1\n0:1", "8:1\n0:0.9,1:0.1\n"}) {
        const CallStatistics calls = parse_statistics(text, "calls.csv");
        ASSERT_EQ(calls.alignments.pairs().size(), 1u) << text;
        EXPECT_EQ(calls.alignments.pairs().front().first, 1u);
    }
}

// --- Bad files -----------------------------------------------------------------------------------

TEST(ParseStatistics, refuses_what_is_wrong_at_its_line_and_column_and_nothing_else) {
    const std::string more = "expected ',' or the end of the line", overlap = "expected 0 or 1",
                      colon = "expected ':'", end = "expected the end of the file";
    const struct {
        std::string text;
        int line, column; ///< 0: it is none
        std::string why;
    } rows[] = {
        // nothing
        {"", 1, 1, "it is empty"},
        // line ends of Windows
        {"8:0.5,16:0.5\r\n0:1\r\n1:1\r\n", 0, 0, ""},
        {"8:1\r\n0:x\r\n", 2, 3, kProbability},
        {"8:1\r\r\n", 1, 4, more},
        // numbers
        {"8:-0.5,16:1.5", 1, 3, "a probability cannot be negative"},
        {"x:1", 1, 1, kNumber},
        {"8:z", 1, 3, kProbability},
        {" 8:1", 1, 1, kNumber},
        {"\xef\xbb\xbf 8:1", 1, 1, kNumber},
        {std::string("8:1\0", 4), 1, 4, more},
        {"8:0.5,16:nan", 1, 10, kProbability},
        {"8:0.5,16:1e999", 1, 10, kProbability},
        // sums, which may be 2 % off
        {"8:0.985", 0, 0, ""},
        {"8:1.015", 0, 0, ""},
        {"8:0.5,16:0.6", 1, 13, kSum},
        {"8:1e308,9:1e308", 1, 16, kSum},
        {"8:1\n0:1\n1:0.5\n", 3, 6, kSum},
        // marks between numbers
        {"8 1", 1, 2, colon},
        {"8:1,", 1, 5, kNumber},
        {"8:0.5;9:0.5", 1, 6, more},
        // sizes beyond 1 TiB, a fourth line, alignments and overlaps that are none
        {"1099511627776:1", 0, 0, ""},
        {"8:0.5,1099511627777:0.5", 1, 7, kNumber},
        {"8:1\n0:1\n1:1\n", 0, 0, ""},
        {"8:1\n0:1\n1:1\n1:1", 4, 1, end},
        {"8:1\n0:1\n0:1\n", 3, 1, kAlignment},
        {"8:1\n0:1\n1:0.5,4097:0.5\n", 3, 7, kAlignment},
        {"8:1\n0:0.5,2:0.5\n", 2, 7, overlap},
    };
    for (const auto& [text, line, column, why] : rows) {
        EXPECT_EQ(fault(text), line ? at(line, column, why) : "") << text;
    }
}

TEST_F(StatisticsFile, is_called_by_its_name_and_refused_where_it_cannot_be_read) {
    put("own.csv", "8:1\n");
    EXPECT_EQ(read_statistics(folder / "own.csv").name, "own.csv");
    put("bad.csv", "8:2\n");
    EXPECT_TRUE(mentions(refusal_of([&] { read_statistics(folder / "bad.csv"); }),
                         "bad.csv, line 1, column 4"));
    for (const auto& path : {folder / "missing.csv", folder, std::filesystem::path()}) {
        EXPECT_THROW(read_statistics(path), BadInput) << path;
    }
}
