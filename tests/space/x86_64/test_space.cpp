// The parameter space: the paper's tuples and what lies around them, and only what the CPU has.
#include "space/spaces_by_features.hpp"
#include "support/kinds.hpp"
#include "support/made_up_variants.hpp"

namespace {

const FeatureNames kAll = {"sse4_1", "avx2", "avx512f", "movdir64b", "3dnowprefetch"};

// Each family RT LT ST has one tuple without prefetch and 4 x 7 x 16 with it; rep has one each.
TEST(PaperSpace, has_7186_candidates_where_the_cpu_has_all) {
    const auto all = names(space_with(kAll)); // each once
    EXPECT_EQ(all.size(), 16u * (1 + 4 * 7 * 16) + 2);
    for (const char* name : {"REP_MOVSB T T none 0 0", "ZMM NT NT NTA 14 30", "MM T NT T0 2 0"}) {
        EXPECT_EQ(all.count(name), 1u) << name;
    }
}

TEST(PaperSpace, shrinks_to_what_the_cpu_has) {
    EXPECT_EQ(space_with({}).size(), 6u * 449 + 2);         // R64, MM, XMM with plain loads
    EXPECT_EQ(space_with({"sse4_1"}).size(), 8u * 449 + 2); // and movntdqa
    EXPECT_EQ(space_with({"sse4_1", "avx2"}).size(), 12u * 449 + 2);
    for (const Candidate& candidate : space_with({"sse4_1", "avx2"})) {
        EXPECT_STRNE(candidate.variant->rt, "ZMM");
    }
}

// Ties go to the first in the space.
TEST(PaperSpace, comes_first_in_the_table_and_begins_with_the_simplest) {
    const std::vector<Candidate> space = space_with(kAll);
    EXPECT_EQ(space.front().name(), "REP_MOVSB T T none 0 0");
    EXPECT_TRUE(std::ranges::is_sorted(space, {}, &Candidate::prefetches));
    const auto all = variants(asterope_copies);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(in_paper(all[i]), i < 466) << i;
    EXPECT_EQ(extension_variants(everything).size(), 2707u);
    EXPECT_EQ(extension_variants(everything).size() + 466, all.size());
}

TEST(Candidate, has_a_name_and_the_axis_that_it_uses) {
    const struct {
        const char* rt;
        Axes axes;
        const char *axis, *marks;
    } cases[] = {
        {"ZMM", {2, 1, 0, "up"}, "paper", ""},
        {"ZMM", {1, 1, 0, "up"}, "tb", " TB1"},
        {"ZMM", {16, 1, 0, "up"}, "tb", " TB16"},
        {"ZMM", {2, 4, 0, "up"}, "pi", " PI4"},
        {"ZMM", {2, 1, 1, "up"}, "pw", " PW16"},
        {"ZMM", {2, 1, 0, "down"}, "dir", " down"},
        {"ZMM", {2, 1, 0, "up", 2}, "pg", " PG2"},
        {"MOVDIR64B", {2, 1, 0, "up"}, "movdir64b", ""},
        {"MOVDIR64B", {2, 2, 0, "up"}, "several", " PI2"},
        {"ZMM", {4, 2, 1, "down"}, "several", " TB4 PI2 PW16 down"},
    };
    for (const auto& one : cases) {
        const asterope_variant v = made_up(one.rt, "T", "NT", "T0", 4, one.axes);
        const Candidate candidate{&v, 8, one.axes.pw * 16};
        EXPECT_EQ(candidate.axis(), one.axis);
        EXPECT_EQ(candidate.name(), one.rt + std::string(" T NT T0 4 8") + one.marks);
    }
}

TEST(Candidate, packs_both_distances_and_leaves_out_of_its_values_what_is_not_asked_for) {
    const asterope_variant v = made_up("ZMM", "T", "T", "T0", 4, {4, 2, 1, "down"});
    EXPECT_EQ((Candidate{&v, 30, 32}.distance()), std::size_t{2048} << 32 | 1920u);
    EXPECT_EQ((Candidate{&v, 8, 16}.values_but({"pt", "ps", "pd"})), "ZMM T T 4 2 16 0 down ");
    EXPECT_EQ((Candidate{&v, 8, 16}.values_but({})), "ZMM T T T0 4 8 4 2 16 0 down ");
}

// The distances themselves do not count as an axis of the extension: prefetchw from 2 lines on
// does.
TEST(ExtensionSpace, has_every_variant_beyond_the_paper_at_every_distance_and_uses_an_axis) {
    const std::vector<Candidate> space = extension_space(everything);
    EXPECT_EQ(space.size(), 82951u);
    const auto all = names(space); // each once
    for (const char* name : {"XMM T T none 0 0 TB1", "ZMM T T T0 16 30 TB16 PI4 PW32",
                             "MOVDIR64B T NT NTA 14 30", "YMM T NT T2 8 0 TB8 down"}) {
        EXPECT_EQ(all.count(name), 1u) << name;
    }
    for (const Candidate& candidate : paper_space(everything)) {
        ASSERT_EQ(candidate.axis(), "paper") << candidate.name();
    }
    std::set<const asterope_variant*> variants;
    std::set<std::string_view> axes;
    for (const Candidate& candidate : space) {
        variants.insert(candidate.variant);
        axes.insert(candidate.axis());
    }
    EXPECT_EQ(variants.size(), extension_variants(everything).size());
    EXPECT_EQ(axes,
              (std::set<std::string_view>{"tb", "pi", "pw", "pg", "dir", "movdir64b", "several"}));
}

TEST(ExtensionSpace, shrinks_to_what_the_cpu_has) {
    const auto of = [](const FeatureNames& features) { return extension_space(has_of(features)); };
    for (const Candidate& candidate : of({})) {
        EXPECT_STREQ(candidate.variant->rt, "XMM");
        EXPECT_STREQ(candidate.variant->lt, "T");
        EXPECT_EQ(candidate.pw, 0);
    }
    EXPECT_FALSE(of({}).empty());
    EXPECT_LT(of({}).size(), of({"3dnowprefetch"}).size());
    EXPECT_LT(of({"avx2"}).size(), of({"avx2", "avx512f"}).size());
    EXPECT_EQ(of(kAll).size(), extension_space(everything).size());
}

// Where a prefetch size does not exist, the nearest one is taken, the shorter of two. Direct stores
// lie around non-temporal ones, and so do plain loads. The number of tb x (up and down with pi 1,
// up with pi 2 and 4) x pw without the paper's is 119.
TEST(Around, has_every_combination_of_the_axes_but_the_papers_or_what_comes_nearest) {
    const std::tuple<const char*, std::size_t, std::vector<const char*>> rows[] = {
        {"YMM T T T0 6 8",
         119,
         {"YMM T T T0 6 8 TB1", "YMM T T T0 6 8 PW2", "YMM T T T0 6 8 down", "YMM T T T0 4 8 TB4",
          "YMM T T T0 4 8 PI2", "YMM T T T0 16 8 TB16 PI4 PW32", "YMM T T T0 8 8 TB8 PW16 down"}},
        {"YMM T T T0 14 8", 119, {"YMM T T T0 12 8 TB4"}},
        {"YMM T T T0 12 8", 119, {"YMM T T T0 8 8 TB4 PI4"}},
        {"XMM T NT T0 4 8", 19 + 15, {"MOVDIR64B T NT T0 4 8", "MOVDIR64B T NT T0 16 8 TB16 PI4"}},
        // and with a page stage of either distance 5 blocks, up and down, direct stores up alone
        {"ZMM T NT none 0 0",
         19 + 15 + 2 * (10 + 5),
         {"MOVDIR64B T NT none 0 0 TB4", "ZMM T NT none 0 0 TB8 PG2 down"}},
        {"ZMM NT T T0 4 8", 4 + 119, {"ZMM NT T T0 8 8 TB8"}},
        {"ZMM NT NT T0 4 8", 4 + 19 + 15, {}},
        {"REP_MOVSB T T none 0 0", 0, {}}, // registers without such axes
        {"R64 T NT T0 4 8", 0, {}},
        {"MM T T none 0 0", 0, {}},
    };
    for (const auto& [base, count, some] : rows) {
        const auto found = neighbours(named(base, paper_space(everything)), everything);
        EXPECT_EQ(found.size(), count) << base;
        EXPECT_EQ(names(found).count(base), 0u) << base;
        for (const char* name : some) EXPECT_EQ(names(found).count(name), 1u) << base << name;
    }
}

TEST(Around, keeps_to_what_the_cpu_has) {
    for (const char* name : {"XMM T NT T0 4 8", "XMM T T T0 4 8"}) { // no prefetchw, no movdir64b
        EXPECT_EQ(neighbours(named(name, space_with({})), has_of({})).size(), 5u * 4 - 1);
    }
}

std::set<std::string> names_of(const asterope_kind& kind, const HasFeature& has) {
    std::set<std::string> names;
    for (const asterope_copy* copy : copies_of(kind, has)) names.insert(copy->name);
    return names;
}

TEST(CopiesOf, a_kind_are_all_in_their_order_each_by_a_name_of_its_own) {
    for (const asterope_kind& kind : kinds_of(asterope_copies)) {
        const auto all = copies_of(kind, everything);
        ASSERT_EQ(names_of(kind, everything).size(), kind.count);
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], &kind.copies[i]);
    }
    EXPECT_STREQ(kSmallCopies.copies[0].name, asterope_copies.plain_small);
}

TEST(CopiesOf, a_kind_are_those_whose_every_feature_the_cpu_has) {
    const FeatureNames masked = {"avx512bw", "avx512f", "avx512vl", "bmi2"};
    const std::tuple<const asterope_kind&, const char*, FeatureNames> cases[] = {
        {kSmallCopies, "rep XMM up 128", {}},
        {kSmallCopies, "stepped YMM up 128", {"avx2"}},
        {kSmallCopies, "stepped ZMM up 128", {"avx512f", "avx512vl"}},
        {kSmallCopies, "masked ZMM up 256", masked},
        {kAliasedCopies, "overlapping XMM 128", {}},
        {kAliasedCopies, "overlapping ZMM 256", {"avx512f"}},
        {kOverlappingCopies, "overlapping XMM 128", {}},
        {kOverlappingCopies, "overlapping YMM 256", {"avx2"}},
        {kProbes, "source 4", {}}};
    for (const auto& [kind, name, needs] : cases) {
        EXPECT_EQ(names_of(kind, has_of(needs)).count(name), 1u) << name;
        for (const std::string& missing : needs) {
            FeatureNames others = needs;
            others.erase(missing);
            EXPECT_EQ(names_of(kind, has_of(others)).count(name), 0u) << name << missing;
        }
    }
    EXPECT_EQ(names_of(kAliasedCopies, has_of({})).size(), 1u);
    EXPECT_EQ(names_of(kOverlappingCopies, has_of({})).size(), 1u);
}

TEST(TakesEffect, only_where_blocks_pages_and_prefetches_lie_within_the_copy) {
    const std::vector<Candidate> space = whole_space();
    const std::vector<std::pair<const char*, std::size_t>> first_sizes = {
        {"REP_MOVSB T T none 0 0", 128},
        {"ZMM T T none 0 0", 128},
        {"ZMM T NT none 0 0", 513},
        {"R64 T T none 0 0", 257}, // up to 256 bytes XMM registers copy
        {"XMM T T none 0 0 TB1", 257},
        {"XMM T T none 0 0 TB4", 257},
        {"YMM T T none 0 0 TB8", 513},
        {"ZMM T T none 0 0 TB16", 1025},
        {"ZMM T T none 0 0 PI2", 8193},
        {"ZMM T T none 0 0 TB16 PI4", 16385},
        {"XMM T T T0 2 0", 257},
        {"XMM T T T0 2 8", 513},
        {"XMM T T NTA 14 30", 1921},
        {"XMM T T none 0 0 PW32", 2049},
        {"XMM T T none 0 0 PG2", 8193},
        {"XMM T T T0 4 30 PW2", 1921},
    };
    for (const auto& [name, first] : first_sizes) {
        const Candidate candidate = named(name, space);
        for (const std::size_t size :
             {128ul, 256ul, std::max(128ul, first - 1), first, 1ul << 30}) {
            EXPECT_EQ(takes_effect(candidate, size), size >= first) << name << " at " << size;
        }
    }
}

TEST(Plane, has_every_prefetch_of_the_others_parameters) {
    const std::vector<Candidate> space = whole_space();
    const auto plane = [&](const char* name) {
        return names(distance_grid(named(name, space), everything));
    };
    EXPECT_EQ(plane("ZMM T NT T0 4 8").size(), 7u * 16);
    EXPECT_EQ(plane("ZMM T NT none 0 0"), std::set<std::string>{"ZMM T NT none 0 0"});
    EXPECT_EQ(plane("YMM T T T0 16 8 TB16 PI4").size(), 1u * 16);
    EXPECT_EQ(plane("YMM T T T0 4 8 PI2 PW4").size(), 3u * 16 * 5);
    EXPECT_EQ(plane("YMM T T T0 4 8 PI2 PW4").count("YMM T T T0 8 30 PI2 PW32"), 1u);
    EXPECT_EQ(plane("YMM T T none 0 0 PW4").size(), 5u);
}

} // namespace
