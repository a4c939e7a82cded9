// The parameter space of AArch64: what is searched first, what lies around it, and only what the
// CPU has.
#include "space/spaces_by_features.hpp"

constexpr std::size_t kOfAFamily = 1 + 4 * 7 * 16; // without prefetch; PT x PS x PD

// X, Q and SVE with both kinds of loads and of stores, MOPS with its four options.
TEST(PaperSpace, has_5392_candidates_where_the_cpu_has_all) {
    EXPECT_EQ(names(paper_space(everything)).size(), 3 * 4 * kOfAFamily + 4);
}

TEST(PaperSpace, shrinks_to_what_the_cpu_has) {
    EXPECT_EQ(space_with({}).size(), 2 * 4 * kOfAFamily);
    EXPECT_EQ(space_with({"sve"}).size(), 3 * 4 * kOfAFamily);
    EXPECT_EQ(space_with({"mops"}).size(), 2 * 4 * kOfAFamily + 4);
    for (const Candidate& candidate : space_with({})) {
        EXPECT_STRNE(candidate.variant->rt, "SVE");
        EXPECT_STRNE(candidate.variant->rt, "MOPS");
    }
}

TEST(ExtensionVariants, clear_lines_only_where_the_cpu_clears_64_bytes) {
    const auto clearing = [](bool zva) {
        return std::ranges::count_if(
            extension_variants([&](std::string_view name) { return zva || name != "zva64"; }),
            [](const auto* one) { return std::strstr(one->name, "zva") != nullptr; });
    };
    EXPECT_EQ(clearing(false), 0);
    EXPECT_GT(clearing(true), 0);
}

TEST(Neighbours, of_general_registers_are_none) {
    const std::vector<Candidate> space = paper_space(everything);
    EXPECT_TRUE(neighbours(named("X T T none 0 0", space), everything).empty());
    EXPECT_FALSE(neighbours(named("Q T T none 0 0", space), everything).empty());
}

TEST(PaperSpace, of_sets_has_those_that_clear_lines) {
    const std::set<std::string> all = names(paper_space(everything, asterope_sets));
    for (const char* name : {"ZVA T TB4", "MOPS NT", "Q NT TB8"}) EXPECT_EQ(all.count(name), 1u);
}
