// The parameter space: the paper's tuples and no others, and only what the CPU has.
#include "space.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace asterope;

namespace {

std::vector<Candidate> space_with(const std::set<std::string, std::less<>>& features) {
    return paper_space([&](std::string_view name) { return features.count(name) > 0; });
}

const std::set<std::string, std::less<>> kAll = {"sse4_1", "avx2", "avx512f"};

} // namespace

// Each family RT LT ST has one tuple without prefetch and 4 x 7 x 16 with it; rep has one each.
TEST(PaperSpace, has_7186_candidates_where_the_cpu_has_all) {
    EXPECT_EQ(space_with(kAll).size(), 16u * (1 + 4 * 7 * 16) + 2);
    EXPECT_EQ(space_with(kAll).size(), 7186u);
}

TEST(PaperSpace, shrinks_to_what_the_cpu_has) {
    EXPECT_EQ(space_with({}).size(), 6u * 449 + 2);         // R64, MM, XMM with plain loads
    EXPECT_EQ(space_with({"sse4_1"}).size(), 8u * 449 + 2); // and movntdqa
    EXPECT_EQ(space_with({"sse4_1", "avx2"}).size(), 12u * 449 + 2);
    for (const Candidate& candidate : space_with({"sse4_1", "avx2"})) {
        EXPECT_STRNE(candidate.variant->rt, "ZMM");
    }
}

TEST(PaperSpace, names_each_tuple_once) {
    std::set<std::string> names;
    for (const Candidate& candidate : space_with(kAll)) {
        EXPECT_TRUE(names.insert(candidate.name()).second) << candidate.name();
    }
    for (const char* name : {"REP_MOVSB T T none 0 0", "ZMM NT NT NTA 14 30", "MM T NT T0 2 0"}) {
        EXPECT_EQ(names.count(name), 1u) << name;
    }
}

TEST(PaperSpace, has_no_tuple_that_does_not_exist) {
    for (const Candidate& candidate : space_with(kAll)) {
        const asterope_variant& v = *candidate.variant;
        const std::string rt = v.rt, lt = v.lt, pt = v.pt;
        EXPECT_FALSE((rt == "R64" || rt == "MM") && lt == "NT") << candidate.name();
        EXPECT_EQ(pt == "none", v.ps == 0) << candidate.name();
        EXPECT_EQ(candidate.prefetches(), v.ps != 0);
        EXPECT_TRUE(v.ps % 2 == 0 && v.ps <= 14 && candidate.pd % 2 == 0 && candidate.pd <= 30);
        EXPECT_TRUE(pt != "none" || candidate.pd == 0) << candidate.name();
        EXPECT_TRUE(!rt.starts_with("REP") || candidate.name() == rt + " T T none 0 0");
        EXPECT_NE(v.copy, nullptr);
    }
}

// Ties go to the first in the space.
TEST(PaperSpace, begins_with_the_simplest) {
    const std::vector<Candidate> space = space_with(kAll);
    EXPECT_EQ(space.front().name(), "REP_MOVSB T T none 0 0");
    bool prefetching = false;
    for (const Candidate& candidate : space) {
        EXPECT_FALSE(prefetching && !candidate.prefetches()) << candidate.name();
        prefetching = candidate.prefetches();
    }
}

TEST(PaperSpace, counts_distances_in_lines_of_64_bytes) {
    for (const Candidate& candidate : space_with({})) {
        EXPECT_EQ(candidate.distance(), static_cast<std::size_t>(candidate.pd) * 64);
    }
}

TEST(DescribeSpace, counts_every_candidate_along_every_axis) {
    const std::string text = describe_space(space_with(kAll));
    EXPECT_EQ(text.substr(0, text.find('\n')), "paper space: 7186 candidates a size");
    std::size_t begin = text.find('\n') + 1;
    int axes = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const std::string line = text.substr(begin, end - begin);
        int sum = 0;
        for (std::size_t at = 0; (at = line.find(": ", at)) != std::string::npos; ++at) {
            sum += std::stoi(line.substr(at + 2));
        }
        EXPECT_EQ(sum, 7186) << line;
        ++axes;
    }
    EXPECT_EQ(axes, 6);
    EXPECT_NE(text.find("RT  REP_MOVSB: 1  REP_MOVSQ: 1  R64: 898"), std::string::npos) << text;
}
