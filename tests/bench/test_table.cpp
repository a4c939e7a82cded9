// The bench's tables: the contents of their rows and columns.
#include "bench/table.hpp"

#include "support/made_up_cells.hpp"
#include "support/unit_test.hpp"

namespace {

const Contenders kColumns = {
    {"glibc", "", nullptr}, {"asterope", "", nullptr}, {"avx_streaming", "", nullptr}};

Cell cell(const std::string& label, double routine, double other = 0) {
    Ratios ratios = {{"glibc", 1}, {"asterope", routine}};
    if (other > 0) ratios.emplace_back("avx_streaming", other);
    return made_up_cell(label, ratios);
}

/// The words of the last line, a blank between them.
std::string words(const std::string& text) {
    std::istringstream in(text.substr(text.find_last_of('\n', text.size() - 2) + 1));
    std::string words;
    for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
    return words;
}

} // namespace

TEST(PlainTable, has_times_throughput_ratio_interval_and_floor) {
    const auto table = plain_table("hot");
    EXPECT_EQ(table->begin().rfind("\nhot ", 0), 0u);
    EXPECT_EQ(words(table->row(cell("4 KiB", 2))),
              "4 KiB 1000.0 500.0 8.19 2.00 (2.00..2.00) (0.98..1.02)");
    EXPECT_EQ(table->end(), "") << "no mean of a single row";
    table->row(cell("8 KiB", 8));
    EXPECT_EQ(words(table->end()), "all 4.00 geometric mean");
}

TEST(PeersTable, has_a_column_for_each_copy_and_marks_the_best) {
    const auto table = peers_table("hot", kColumns);
    EXPECT_EQ(words(table->begin()), "hot ns asterope streaming floor");
    EXPECT_EQ(words(table->row(cell("4 KiB", 2, 3))), "4 KiB 1000.0 2.00 3.00* (0.98..1.02)");
    EXPECT_EQ(words(table->row(cell("8 KiB", 8, 3))), "8 KiB 1000.0 8.00* 3.00 (0.98..1.02)");
    EXPECT_EQ(words(table->end()), "all 4.00 3.00 geometric mean");
    EXPECT_EQ(table->row(cell("4 KiB", 0.5, 0.9)).find('*'), std::string::npos) << "libc is best";
}

TEST(PeersTable, names_the_best_three_others_where_a_column_for_each_would_be_too_wide) {
    Contenders many = {kColumns[0], kColumns[1]};
    Cell four = cell("4 KiB", 2), eight = cell("8 KiB", 8);
    for (int i = 1; i <= 30; ++i) {
        many.push_back({"someone-else-" + std::to_string(i), "", nullptr});
        const double ratio = i / 10.0, other = i == 30 ? 0.1 : ratio;
        four.copies.push_back({many.back().name, 1e-6, {ratio, ratio, ratio}, {1, 1, 1}});
        if (i == 28) continue; // it did not run, so it has no mean
        eight.copies.push_back({many.back().name, 1e-6, {other, other, other}, {1, 1, 1}});
    }
    const auto table = peers_table("hot", many);
    EXPECT_EQ(words(table->begin()), "hot ns asterope floor the best others");
    EXPECT_EQ(words(table->row(four)),
              "4 KiB 1000.0 2.00 (0.98..1.02) "
              "someone-else-30 3.00, someone-else-29 2.90, someone-else-28 2.80");
    EXPECT_EQ(words(table->row(eight)),
              "8 KiB 1000.0 8.00* (0.98..1.02) "
              "someone-else-29 2.90, someone-else-27 2.70, someone-else-26 2.60");
    EXPECT_EQ(words(table->end()),
              "all 4.00 geometric mean: "
              "someone-else-29 2.90, someone-else-27 2.70, someone-else-26 2.60");
}

TEST(WorkloadsTable, has_a_row_for_the_cells_of_one_size_and_a_dash_where_one_is_not_timed) {
    const auto table = workloads_table({Workload::hot, Workload::fresh});
    EXPECT_EQ(words(table->begin()), "x libc hot fresh");
    Cell small = cell("128 B", 2);
    small.size = 128;
    EXPECT_EQ(words(table->row(small)), "128 B 2.00 (0.98..1.02) -");
    EXPECT_EQ(words(table->end()), "all 2.00, least 2.00 -");
    Cell hot = cell("64 KiB", 8), fresh = cell("64 KiB", 3);
    hot.size = fresh.size = 65536;
    EXPECT_EQ(table->row(hot), "");
    EXPECT_EQ(words(table->row(fresh)), "64 KiB 8.00 (0.98..1.02) 3.00 (0.98..1.02)");
    EXPECT_EQ(words(table->end()), "all 4.00, least 2.00 3.00, least 3.00");
}

TEST(GridTable, has_sources_downwards_and_destinations_across) {
    const auto table = grid_table("4 KiB misaligned", {0, 63});
    EXPECT_EQ(words(table->begin()), "+0 +63");
    EXPECT_EQ(table->row(cell("4 KiB +0 +0", 1)), "");
    EXPECT_EQ(words(table->row(cell("4 KiB +0 +63", 2))), "+0 1.00 2.00");
    table->row(cell("4 KiB +63 +0", 4));
    EXPECT_EQ(words(table->row(cell("4 KiB +63 +63", 8))), "+63 4.00 8.00");
    EXPECT_EQ(table->end(), "all         2.00   4.00\nleast       1.00   2.00\n");
}
