// Verification: broken copies are named with what they did, good ones beside them stay valid.
#include "space/verify.hpp"

#include <csignal>

#include "space/spoiled_copies.hpp"
#include "support/kinds.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

namespace {

asterope_variant variant(asterope_candidate copy, int ps = 0) {
    asterope_variant variant = made_up("R64", "T", "T", ps ? "T0" : "none", ps);
    variant.copy = copy;
    return variant;
}

/// Index -> reason.
std::map<std::size_t, std::string> verdict(const std::vector<Candidate>& space) {
    std::map<std::size_t, std::string> reasons;
    for (const Invalid& invalid : verify(space)) {
        EXPECT_TRUE(reasons.emplace(invalid.index, invalid.reason).second) << "named twice";
    }
    return reasons;
}

void* returns_the_source(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    return const_cast<void*>(source);
}
constexpr asterope_candidate segmentation_fault = spoiled<[](Asked) { raise(SIGSEGV); }>;

/// Gets the byte in place of a source.
void* good_set(void* destination, const void* argument, std::size_t bytes, std::size_t) {
    return std::memset(destination, static_cast<char>(reinterpret_cast<std::uintptr_t>(argument)),
                       bytes);
}

// All at once: some stand side by side, some at the ends, and right ones among them.
TEST(Verify, names_what_is_wrong_of_each_and_where_the_buffers_lay) {
    const std::vector<std::pair<asterope_candidate, const char*>> copies = {
        {segmentation_fault, "died: Segmentation fault"},
        {spoiled<[](Asked a) { 1000 < a.bytes ? raise(SIGILL) : 0; }>, "died: Illegal instruction"},
        {good, ""},
        {spoiled<[](Asked a) { a.to[a.bytes - 1] ^= 1; }>,
         "wrong byte 127 of 128 (source +0, destination +0)"},
        {spoiled<[](Asked a) {
             a.to[512] ^= a.bytes == 1025 && reinterpret_cast<std::uintptr_t>(a.from) % 64 == 7;
         }>,
         "wrong byte 512 of 1025 "},
        {spoiled<[](Asked a) { // a line in the wrong place
             if (1024 < a.bytes) std::memcpy(a.to + 512, a.from + 512 + 64, 64);
         }>,
         "wrong byte 512 of 1025 "},
        {spoiled<[](Asked a) { a.to[a.bytes] = 0; }>, "stray write at byte 128 of 128 "},
        {spoiled<[](Asked a) { a.to[-1] = 0; }>, "stray write at byte -1 of 128 "},
        {good, ""},
        {returns_the_source, "wrong return value"},
        {segmentation_fault, "died: Segmentation fault"},
    };
    const std::vector<std::pair<asterope_candidate, const char*>> sets = {
        {good_set, ""},
        {spoiled<[](Asked a) { std::memset(a.to, 0, a.bytes); }, good_set>, "wrong byte 0 of 128 "},
        // the whole int
        {spoiled<[](Asked a) { std::memcpy(a.to, &a.from, sizeof(int)); }, good_set>,
         "wrong byte 1 of 128 (value 0, destination +0)"},
        {spoiled<[](Asked a) { a.to[a.bytes] = 1; }, good_set>, "stray write at byte 128 of 128 "},
    };
    EXPECT_TRUE(verify({}).empty());
    for (const auto& [operation, rows] :
         {std::pair(&asterope_copies, copies), {&asterope_sets, sets}}) {
        std::vector<asterope_variant> variants;
        for (const auto& [copy, reason] : rows) {
            variants.push_back(variant(copy));
            variants.back().space = operation;
        }
        std::vector<Candidate> space;
        for (const asterope_variant& one : variants) space.push_back({&one, 0});
        auto reasons = verdict(space);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(reasons.count(i) > 0, *rows[i].second != 0) << i;
            EXPECT_TRUE(mentions(reasons[i], rows[i].second)) << i;
        }
    }
}

TEST(Verify, copies_whole_groups_of_pages_where_they_are_interleaved) {
    asterope_variant broken =
        variant(spoiled<[](Asked a) { 9500 < a.bytes ? a.to[9500] ^= 1 : 0; }>);
    EXPECT_TRUE(verdict({{&broken, 0}}).empty()) << "too large for the others";
    broken.acts_above = 8192;
    EXPECT_TRUE(mentions(verdict({{&broken, 0}})[0], "wrong byte 9500 of 12288 "));
}

TEST(Verify, tries_the_extreme_distances_and_refuses_the_variant_at_all) {
    const std::pair<asterope_candidate, std::set<std::size_t>> rows[] = {
        {spoiled<[](Asked a) { a.to[64] ^= a.distance % kGiB == 30 * 64; }>, {0, 2, 4}},
        {spoiled<[](Asked a) { a.to[64] ^= (a.distance >> 32) == 32 * 64; }>, {0, 2, 4}},
        {spoiled<[](Asked a) { a.distance % kGiB == 0 ? raise(SIGSEGV) : 0; }>, {0, 2, 4}},
        {good, {}}};
    for (const auto& [copy, refused] : rows) {
        const asterope_variant before = variant(good), one = variant(copy, 4);
        // in no order, and not side by side: as lists of candidates to be timed are
        std::set<std::size_t> found;
        for (const auto& [index, reason] :
             verdict({{&one, 30, 32}, {&before, 0}, {&one, 8, 2}, {&before, 0}, {&one, 0, 2}})) {
            found.insert(index);
        }
        EXPECT_EQ(found, refused);
    }
}

TEST(Verify, passes_the_real_ones_of_any_machine_and_all_that_this_cpu_runs) {
    const auto nothing = [](std::string_view) { return false; };
    const HasFeature own = granted_features(read_cpu());
    std::vector<Candidate> space = paper_space(nothing);
    for (const asterope_variant* v : extension_variants(own)) {
        const bool writes = Candidate{v, 0}.prefetches_destination();
        space.push_back({v, 0, writes ? 2 : 0});
        space.push_back({v, v->ps ? 30 : 0, writes ? 32 : 0});
    }
    EXPECT_GE(space.size(), 600u); // what XMM has
    EXPECT_TRUE(verdict(space).empty());
    const std::vector<Candidate> sets = paper_space(nothing, asterope_sets);
    EXPECT_TRUE(verdict(sets).empty());

    std::map<const asterope_kind*, asterope_candidate> kinds = {
        {&kOverlappingCopies, nullptr},
        {&kAliasedCopies, nullptr},
        {&kSmallCopies, good},
        {&kSmallSets, sets.at(0).variant->copy}};
    // A probe that takes no tick, as the counter moves too seldom, is above no threshold.
    if (why_no_sensing().empty()) kinds[&kProbes] = good;
    for (const auto& [kind, pipeline] : kinds) {
        const std::vector<const asterope_copy*> copies = copies_of(*kind, own);
        ASSERT_FALSE(copies.empty());
        EXPECT_TRUE(verify(*kind, copies, pipeline).empty());
    }
}

constexpr std::size_t kBound = 256;

/// How a small copy must be: it does up to its bound, `large` the rest.
template <asterope_candidate Small = copy_upwards>
void* small_good(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                 asterope_candidate large) {
    return (bytes > kBound ? large : Small)(destination, source, bytes, distance);
}
/// One with a fault, as `spoiled` makes of the others.
template <auto Spoil, asterope_candidate Small = copy_upwards>
void* small_spoiled(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                    asterope_candidate large) {
    small_good<Small>(destination, source, bytes, distance, large);
    return Spoil({static_cast<char*>(destination), nullptr, bytes, distance});
}

/// As if a probe took one tick: above the threshold of 0 only.
bool uncached(std::size_t sensing) {
    return reinterpret_cast<const asterope_sensing*>(sensing)->threshold == 0;
}
void* sense_good(void* destination, const void* source, std::size_t bytes, std::size_t sensing) {
    const auto& way = *reinterpret_cast<const asterope_sensing*>(sensing);
    return uncached(sensing) ? way.cold(destination, source, bytes, way.cold_distance)
                             : way.hot(destination, source, bytes, way.hot_distance);
}
/// Goes on with the wrong pipeline. The check sets that one to null, so the call crashes.
void* sense_the_other_way(void* destination, const void* source, std::size_t bytes,
                          std::size_t sensing) {
    const auto& way = *reinterpret_cast<const asterope_sensing*>(sensing);
    return (uncached(sensing) ? way.hot : way.cold)(destination, source, bytes, 0);
}

asterope_copy with(asterope_candidate copy) {
    return {"made up", {}, "", copy, nullptr, nullptr};
}
asterope_copy with(asterope_small_candidate copy) {
    return {"made up", {}, "", nullptr, copy, nullptr};
}

TEST(Verify, finds_what_other_kinds_do_wrong_in_one_direction_at_one_size_or_beyond_a_bound) {
    const struct {
        const asterope_kind& kind;
        asterope_copy right;
        asterope_candidate pipeline; ///< what it hands on to
        std::vector<std::pair<asterope_copy, const char*>> faults;
    } kinds[] = {
        {kOverlappingCopies,
         with(good),
         nullptr,
         {{with(copy_upwards), "moves 128 bytes wrong (source +0, by 1)"},
          {with(spoiled<[](Asked a) { a.to[100] ^= a.to - a.from == -577; }>),
           "moves 577 bytes wrong (source +0, by -577)"},
          {with(spoiled<[](Asked a) { a.to[a.bytes] ^= a.bytes == 9001; }>),
           "moves 9001 bytes wrong "},
          {with(returns_the_source), "moves 128 bytes wrong "}}},
        {kSmallCopies,
         with(small_good<>),
         good,
         {{with(small_spoiled<[](Asked a) { return &(a.to[20] ^= a.bytes == 37) - 20; }>),
           "wrong byte 20 of 37 (source +0, destination +0)"},
          {with(small_spoiled<[](Asked a) { return a.bytes ? a.to : nullptr; }>),
           "wrong return value, byte 0 of 0 "},
          // stores that are too wide
          {with(small_spoiled<[](Asked a) { return a.bytes ? a.to : &(*a.to = 0); }>),
           "stray write at byte 0 of 0 "},
          {with(small_spoiled<[](Asked a) { return a.bytes == 15 ? &(a.to[-1] = 0) + 1 : a.to; }>),
           "stray write at byte -1 of 15 "},
          // at the bound and beyond it
          {with(small_spoiled<[](Asked a) { return &(a.to[255] ^= a.bytes == kBound) - 255; }>),
           "wrong byte 255 of 256 "},
          {with(small_spoiled<[](Asked a) { return &(*a.to ^= a.bytes > kBound); }>),
           "wrong byte 0 of 257 "}}},
        {kSmallSets,
         with(small_good<good_set>),
         good_set,
         {{with(small_spoiled<[](Asked a) { return std::memset(a.to, 0, a.bytes); }, good_set>),
           "wrong byte 0 of 1 "}}},
        {kProbes,
         with(sense_good),
         good,
         // on one way
         {{with(spoiled<[](Asked a) { a.to[a.bytes / 2] ^= !uncached(a.distance); }, sense_good>),
           "wrong byte 8192 of 16384 (source +0, destination +0)"},
          {with(spoiled<[](Asked a) { a.to[a.bytes - 1] ^= uncached(a.distance); }, sense_good>),
           "wrong byte 16383 of 16384 (source +0, destination +0)"},
          {with(sense_the_other_way), "died: Segmentation fault"},
          {with(spoiled<[](Asked a) { a.to[-1] ^= uncached(a.distance) && a.bytes == 32767; },
                        sense_good>),
           "stray write at byte -1 of 32767 "}}},
    };
    for (const auto& [kind, right, pipeline, faults] : kinds) {
        EXPECT_TRUE(verify(kind, {}, pipeline).empty());
        std::vector<const asterope_copy*> copies = {&right};
        for (const auto& [fault, reason] : faults) copies.push_back(&fault);
        copies.push_back(&right);
        const std::vector<Invalid> invalid = verify(kind, copies, pipeline);
        ASSERT_EQ(invalid.size(), faults.size());
        for (std::size_t i = 0; i < faults.size(); ++i) {
            EXPECT_EQ(invalid[i].index, i + 1);
            EXPECT_TRUE(mentions(invalid[i].reason, faults[i].second));
        }
    }
}

} // namespace
