// Page stages: which are tried, and which a routine can have.
#include "search/fresh_search.hpp"

#include <algorithm>

#include "search/race_track.hpp"
#include "space/limits.hpp"

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

TEST(SearchPageStages, times_copies_of_a_size_in_as_many_rounds_as_a_run_off_of_its_pipelines) {
    const Rigor standard = parse_rigor("standard");
    for (const std::size_t size : {kModerateCopy - 1, kModerateCopy}) {
        KnownMachine machine(races::ratios({{1, 1, 1}, {1.5, 1.5, 1.5}}));
        EXPECT_EQ(
            search_page_stages(all_entrants(2), size, races::kMean, standard, machine).winner(), 1);
        const auto samples = std::ranges::count_if(machine.calls, [](const auto& call) {
            return std::get<1>(call) == Workload::hot && std::get<2>(call) == 1;
        });
        EXPECT_EQ(samples, rigor_at(standard, size).rounds);
    }
    EXPECT_LT(rigor_at(standard, kModerateCopy).rounds, standard.rounds);
}
