// Page stages: which are tried, and which a routine can have.
#include "search/fresh_search.hpp"

#include <algorithm>

#include "space/limits.hpp"
#include "support/unit_test.hpp"

TEST(PageStages, that_are_tried_are_possible_and_begin_with_none) {
    const std::vector<PageStage> stages = all_page_stages();
    EXPECT_EQ(stages.front(), PageStage{});
    EXPECT_TRUE(std::ranges::all_of(stages, is_possible));
    EXPECT_FALSE(is_page_stage(name_of(stages.front())));
    for (std::size_t i = 1; i < stages.size(); ++i) {
        EXPECT_TRUE(is_page_stage(name_of(stages[i]))) << name_of(stages[i]);
        EXPECT_TRUE(is_tried(stages[i], std::size_t{32} << 20)) << name_of(stages[i]);
    }
}

TEST(PageStages, are_tried_only_where_they_do_what_no_simpler_one_does) {
    const std::size_t kib = 1024, mib = kib * kib;
    EXPECT_TRUE(is_tried(PageStage{"populate", 256 * kib}, 64 * kib));
    EXPECT_FALSE(is_tried(PageStage{"populate", mib}, 64 * kib));
    EXPECT_FALSE(is_tried(PageStage{"huge", 2 * mib}, 4 * mib - 1)); // no whole page may lie within
    EXPECT_TRUE(is_tried(PageStage{"huge", 2 * mib}, 4 * mib));
    EXPECT_FALSE(is_tried(PageStage{"advise", 2 * mib}, 4 * mib - 1));
    EXPECT_FALSE(is_tried(PageStage{}, 4 * mib));
}

TEST(PageStages, of_unknown_names_or_pieces_are_impossible) {
    EXPECT_FALSE(is_possible({"none", kLeastPiece}));
    EXPECT_FALSE(is_possible({"populate", 0}));
    EXPECT_FALSE(is_possible({"populate", kLeastPiece + 1}));
    EXPECT_FALSE(is_possible({"huge", kMostPiece + kLeastPiece}));
    EXPECT_FALSE(is_possible({"mlock", kLeastPiece}));
}
