// The summary of a comparison: the copies that are clearly better, the cells that fail a check, and
// their names.
#include "bench/summary.hpp"

#include "support/made_up_cells.hpp"
#include "support/unit_test.hpp"

namespace {

/// Ratios to libc of the routine and of the others; intervals of 1 %, the floor's of 2 %.
Cell cell(double routine, double other, double crowd = 1, const std::string& label = "4 KiB") {
    Cell cell = made_up_cell(
        label, {{"glibc", 1}, {"asterope", routine}, {"other", other}, {"crowd", crowd}}, 0.01);
    cell.copies[1].rival = cell.copies[3].rival = false;
    return cell;
}

/// The same where the other one is an entry point of the routine.
Cell with_entry_point(double routine, double other) {
    Cell one = cell(routine, other);
    one.copies[2].rival = false;
    return one;
}

} // namespace

TEST(CellNoise, is_the_farther_end_of_libc_against_libc) {
    const std::pair<Estimate, double> rows[] = {
        {{1, 0.8, 1.1}, 1.25}, {{1, 1.01, 1.1}, 1.1}, {{1, 1, 1}, 1}};
    for (const auto& [floor, noise] : rows) {
        Cell one = cell(1, 1);
        one.floor = floor;
        EXPECT_DOUBLE_EQ(one.noise(), noise);
    }
}

TEST(ClearlyBetter, is_the_copy_that_leads_by_most_beyond_the_noise_floor) {
    const struct {
        Cell cell;
        const char* better;
        double factor = 1;
    } rows[] = {
        {cell(2, 1), ""},     // the routine leads
        {cell(1, 1), ""},     // all are alike
        {cell(1, 1.025), ""}, // its low end is 1.015, inside 1.02
        {cell(1, 1.04), "other", 1.04},
        {cell(2, 2.08), "other", 1.04},
        {cell(0.5, 0.4), "glibc", 2}, // the routine loses to libc
        {cell(0.5, 3), "other", 6},
        {cell(1, 1, 5), ""}, // takes other CPUs' time
        {with_entry_point(1, 3), ""},
        {with_entry_point(0.5, 3), "glibc", 2},
    };
    for (const auto& [cell, copy, factor] : rows) {
        const Better better = clearly_better(cell);
        EXPECT_EQ(better.copy, copy)
            << cell.copies[1].ratio.median << ' ' << cell.copies[2].ratio.median;
        EXPECT_DOUBLE_EQ(better.factor, factor);
    }
}

TEST(ClearlyBetterThanEntryPoint, is_judged_by_the_time_of_the_entry_point) {
    EXPECT_FALSE(clearly_better_than_entry_point(cell(1, 3)));
    Cell one = cell(1, 1.5);
    for (CopyResult& copy : one.copies) copy.versus_entry_point = about(copy.ratio.median / 1.2);
    EXPECT_EQ(clearly_better_than_entry_point(one)->copy, "other");
    EXPECT_DOUBLE_EQ(clearly_better_than_entry_point(one)->factor, 1.25);
    for (CopyResult& copy : one.copies) copy.versus_entry_point = about(copy.ratio.median / 1.6);
    EXPECT_EQ(clearly_better_than_entry_point(one)->copy, "");
}

TEST(SummaryText, counts_cells_by_suite_and_names_the_worst_of_each_kind) {
    std::vector<Cell> cells = {cell(2, 1), cell(0.8, 1.6), cell(1, 1.5, 1, "8 KiB")};
    cells.push_back(cell(3, 1));
    cells.back().suite = "mix";
    const std::string text = summary_text(cells);
    for (const char* part : {"in 2 of 4 (50.0 %) cells", "sizes          1 of 3 (33.3 %)",
                             "mix            1 of 1 (100.0 %)",
                             "worst ratio to glibc: 0.80 (0.79..0.81) in sizes hot 4 KiB.",
                             "other by 2.00", "other by 1.50"}) {
        EXPECT_TRUE(mentions(text, part)) << part;
    }
    EXPECT_LT(text.find("other by 2.00"), text.find("other by 1.50")) << text;
    EXPECT_EQ(text.back(), '\n');
}

TEST(SummaryText, names_at_most_twenty_losses) {
    std::vector<Cell> cells;
    for (int i = 0; i < 23; ++i) cells.push_back(cell(1, 1.5));
    EXPECT_TRUE(mentions(summary_text(cells), "\n  and 3 more, by less\n"));
    cells.resize(20);
    EXPECT_FALSE(mentions(summary_text(cells), "more, by less"));
}

TEST(CellsUnder, are_those_whose_whole_interval_is_below) {
    // intervals end 1 % above
    const std::vector<Cell> cells = {cell(0.90, 1, 1, "1 KiB"), cell(0.965, 1, 1, "2 KiB"),
                                     cell(0.98, 1, 1, "3 KiB")};
    EXPECT_EQ(cells_under(0.97, cells),
              std::vector<std::string>{"sizes hot 1 KiB: 0.900 (0.891..0.909) is under 0.97"});
    EXPECT_EQ(cells_under(0.98, cells).size(), 2u);
    EXPECT_TRUE(cells_under(0.5, cells).empty());
}

TEST(BestRatio, is_to_the_faster_of_libc_and_the_references) {
    Cell by_libc = cell(1.2, 0.5), by_other = cell(1.2, 1.5);
    by_libc.copies[2].reference = by_other.copies[2].reference = true;
    EXPECT_EQ(by_libc.best_reference().copy, "glibc");
    EXPECT_DOUBLE_EQ(by_libc.best_ratio().median, 1.2);
    EXPECT_EQ(by_other.best_reference().copy, "other");
    EXPECT_DOUBLE_EQ(by_other.best_ratio().median, 0.8);
    EXPECT_DOUBLE_EQ(by_other.best_ratio().low, 0.8 / 1.01);
    EXPECT_DOUBLE_EQ(by_other.best_ratio().high, 0.8 / 0.99);
    EXPECT_DOUBLE_EQ(cell(1.2, 1.5).best_ratio().median, 1.2); // no copy is judged by a peer
}

TEST(BriefText, has_the_means_of_the_workloads_and_the_extremes) {
    std::vector<Cell> cells = {cell(2, 1), cell(8, 1, 1, "8 KiB"), cell(1, 1), cell(0.5, 1)};
    cells[2].workload = "cold";
    cells[3].suite = "mix";
    cells[3].workload = cells[3].label = "mix_l1";
    cells[3].weighting = "bytes";
    cells.push_back(cells[3]);
    cells[4].workload = cells[4].label = "page_end_read";
    cells[4].weighting = "calls";
    EXPECT_EQ(brief_text(cells),
              "  hot 4.00, cold 1.00, small copies by bytes 0.50, small copies at page ends 0.50\n"
              "  lowest 0.50 (mix mix_l1 by bytes), highest 8.00 (sizes hot 8 KiB)\n");
    EXPECT_EQ(brief_text({}), "");
    EXPECT_TRUE(mentions(brief_text({cells[3]}, Operation::set), "small sets by bytes 0.50"));
    for (int i = 0; i < 9; ++i) {
        cells.push_back(cell(1, 1));
        cells.back().workload = "workload_" + std::to_string(i);
    }
    std::istringstream lines(brief_text(cells));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}
