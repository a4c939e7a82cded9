// The table of winners: the paper's columns, and what each winner is worth beside libc.
#include "result_table.hpp"

#include <gtest/gtest.h>
#include <sstream>

using namespace asterope;

namespace {

const asterope_variant kVariants[] = {{"ZMM", "T", "NT", "T0", 4, "avx512f", nullptr},
                                      {"REP_MOVSB", "T", "T", "none", 0, "", nullptr}};
const std::vector<Candidate> kSpace = {{&kVariants[0], 8}, {&kVariants[1], 0}};

Measured measured(double ns, double ratio) {
    return {ns * 1e-9, ns * ratio * 1e-9, {ratio, ratio - 0.01, ratio + 0.01}};
}

SizeResult result(std::size_t size, Entrant winner, std::map<Workload, Measured> workloads) {
    SizeResult result{size, {{winner, workloads, 1, false}}, {}, 15};
    for (const auto& [workload, ignored] : workloads) {
        result.noise_floor[workload] = {1, 0.987, 1.012};
    }
    return result;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
}

} // namespace

TEST(ResultTable, has_a_header_and_a_row_for_each_size) {
    const auto rows =
        lines(result_table(kSpace, {result(128, 1, {{Workload::hot, measured(2, 1.02)}}),
                                    result(8192, 0, {{Workload::hot, measured(100, 1.31)}})}));
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0], "Size       RT        LT ST PT   PS PD |   hot GB/s  x libc     (floor)");
    EXPECT_EQ(rows[1], "128 B      REP_MOVSB T  T  none  0  0 |      64.00    1.02 (0.99..1.01)");
    EXPECT_EQ(rows[2], "8 KiB      ZMM       T  NT T0    4  8 |      81.92    1.31 (0.99..1.01)");
}

TEST(ResultTable, has_columns_for_each_workload) {
    const auto rows = lines(result_table(kSpace, {result(std::size_t{32} << 20, 0,
                                                         {{Workload::hot, measured(1e6, 1.7)},
                                                          {Workload::cold, measured(2e6, 1.3)}})}));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1], "32 MiB     ZMM       T  NT T0    4  8 |      33.55    1.70 (0.99..1.01)"
                       " |      16.78    1.30 (0.99..1.01)");
    EXPECT_LT(rows[0].find("hot"), rows[0].find("cold"));
}

TEST(ResultTable, of_nothing_is_empty) {
    EXPECT_EQ(result_table(kSpace, {}), "");
}
