// A program's copies: their part in its time, and several programs as one.
#include "program/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/made_up_program.hpp"

using namespace asterope;

TEST(Program, knows_each_bands_part_in_the_time_of_all_copies) {
    const Program program = made_up_program();
    EXPECT_NEAR(program.time_share(program.bands[0]), 1.0 / 3, 1e-12);
    EXPECT_NEAR(program.time_share(program.bands[1]), 2.0 / 3, 1e-12);
}

TEST(ProgramJson, is_read_as_it_was_written_but_for_the_statistics) {
    Program program = made_up_program();
    program.bands[0].read.reset();
    const Program read = program_of(program_json(program));
    EXPECT_EQ(program_json(read), program_json(program));
    EXPECT_EQ(read.name, "fetcher");
    EXPECT_FALSE(read.bands[0].read);
    EXPECT_EQ(read.bands[1].up_to, kLargestCopy);
    EXPECT_EQ(read.statistics.name, "fetcher");
}

TEST(Join, of_one_program_is_that_program_whatever_it_weighs) {
    const Program program = made_up_program();
    EXPECT_EQ(program_json(join({{program, 7}})), program_json(program));
}

TEST(Join, weighs_shares_of_time_and_counts_of_calls_by_program) {
    Program other = made_up_program("other");
    other.share = {0.06, 0.06, 0.06};
    for (ProgramBand& band : other.bands) band.share = {0.03, 0.03, 0.03};
    other.bands[1].situations = {};
    other.bands[1].situations[situation_of(false, false)] = 1;
    other.bands[1].read.reset();
    const Program joined = join({{made_up_program(), 1}, {other, 3}});
    EXPECT_EQ(joined.name, "fetcher, other");
    EXPECT_NEAR(joined.share.median, (0.3 + 3 * 0.06) / 4, 1e-12);
    EXPECT_NEAR(joined.bands[1].share.median, (0.2 + 3 * 0.03) / 4, 1e-12);
    // Situations by the time that each spends: 0.2 of the one, three times 0.03 of the other.
    EXPECT_NEAR(joined.bands[1].situations[situation_of(false, true)], 0.2 / 0.29, 1e-12);
    EXPECT_NEAR(joined.bands[1].situations[situation_of(false, false)], 0.09 / 0.29, 1e-12);
    EXPECT_EQ(joined.bands[1].read, 1.0); // of those where it is known
    EXPECT_NEAR(joined.bands[0].calls, 4e6, 1);
}

TEST(Join, keeps_pieces_of_each_trace_by_the_calls_that_each_makes) {
    Program one = made_up_program(), other = made_up_program("other");
    one.statistics.trace = {{{1, 0, 0}}};
    other.statistics.trace = {{{2, 0, 0}}, {{3, 0, 0}}};
    const Program joined = join({{one, 1}, {other, 3}});
    std::size_t ones = 0;
    for (const auto& piece : joined.statistics.trace) ones += piece.front().size == 1;
    EXPECT_EQ(joined.statistics.trace.size(), 256u);
    EXPECT_EQ(ones, 64u);
}

TEST(Join, knows_no_situation_where_no_program_was_probed) {
    Program one = made_up_program();
    one.bands[0].situations = {};
    one.bands[0].probed = 0;
    one.bands[1].fresh = 0.25;
    const Program joined = join({{one, 1}, {one, 1}});
    EXPECT_EQ(joined.bands[0].situations, (std::array<double, 4>{}));
    EXPECT_EQ(joined.bands[0].probed, 0);
    EXPECT_NEAR(joined.bands[1].fresh, 0.25, 1e-12);
}

TEST(FindSizes, takes_the_sizes_of_a_band_that_most_time_goes_into) {
    Program program = made_up_program();
    program.statistics.sizes = Distribution({{0, 8}, {512, 1}, {1024, 0.4}, {2048, 1}});
    find_sizes(program);
    // A call takes as long as 256 bytes more: 768, 512; a size of 0 bytes is in no band.
    ASSERT_EQ(program.bands[0].sizes.size(), 2u);
    EXPECT_EQ(program.bands[0].sizes[0].first, 512u);
    EXPECT_NEAR(program.bands[0].sizes[0].second, 0.6, 1e-9);
    EXPECT_NEAR(program.bands[0].sizes[1].second, 0.4, 1e-9);
    EXPECT_EQ(program.bands[1].sizes.size(), 1u);
    std::vector<std::pair<std::size_t, double>> many;
    for (std::size_t size = 1; size <= 100; ++size) many.emplace_back(size, 1.0);
    program.statistics.sizes = Distribution(many);
    find_sizes(program);
    EXPECT_EQ(program.bands[0].sizes.size(), 16u);
    EXPECT_EQ(program.bands[0].sizes[0].first, 100u);
    EXPECT_TRUE(program.bands[1].sizes.empty());
}

TEST(Nearest, is_by_the_ratio_of_the_sizes) {
    const std::vector<std::size_t> evaluated = {128, 512, 4096};
    const std::vector<std::pair<std::size_t, std::size_t>> expected = {
        {0, 0}, {1, 0}, {128, 0}, {250, 0}, {257, 1}, {1000, 1}, {2000, 2}, {1 << 30, 2}};
    for (const auto& [size, index] : expected) EXPECT_EQ(nearest(size, evaluated), index) << size;
}
