// The table of winners: the paper's columns, and what each winner is worth beside libc.
#include "result_table.hpp"

#include <gtest/gtest.h>
#include <sstream>

using namespace asterope;

namespace {

const asterope_variant kVariants[] = {
    {"ZMM", "T", "NT", "T0", 4, 2, 1, 0, "up", "avx512f", nullptr},
    {"REP_MOVSB", "T", "T", "none", 0, 2, 1, 0, "up", "", nullptr}};
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

// --- Small copies --------------------------------------------------------------------------------

namespace {

const asterope_small_variant kSmall[] = {{"masked", "ZMM", "up", 256, "avx512bw", nullptr},
                                         {"stepped", "XMM", "middle", 128, "", nullptr},
                                         {"grouped", "YMM", "down", 512, "avx2", nullptr},
                                         {"rep", "XMM", "up", 128, "", nullptr}};

Finalist small_finalist(Entrant candidate, double ratio) {
    return {candidate,
            {{Workload::mix_l1, measured(5, ratio + 1)}, {Workload::fixed, measured(2, ratio)}},
            ratio,
            false};
}

} // namespace

TEST(SmallTable, has_the_winner_two_runners_up_and_the_noise_floor) {
    const SizeResult result{
        0,
        {small_finalist(2, 1.5), small_finalist(0, 1.4), small_finalist(3, 1.3),
         small_finalist(1, 1.2)},
        {{Workload::mix_l1, {1, 0.987, 1.012}}, {Workload::fixed, {1, 0.992, 1.034}}},
        15};
    const auto rows = lines(small_table(
        {"fleet", "balanced", {&kSmall[0], &kSmall[1], &kSmall[2], &kSmall[3]}, result}));
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0], "Small copies, x libc        all      mix_l1       fixed");
    EXPECT_EQ(rows[1], "to 512 B: grouped YMM down 1.50        2.50        1.50");
    EXPECT_EQ(rows[2], "to 256 B: masked ZMM up    1.40        2.40        1.40");
    EXPECT_EQ(rows[3], "to 128 B: rep XMM up       1.30        2.30        1.30");
    EXPECT_EQ(rows[4], "libc against libc                0.99..1.01  0.99..1.03");
}
