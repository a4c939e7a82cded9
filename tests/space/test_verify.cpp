// Verification: broken copies are named with what they did, good ones beside them stay valid.
#include "space/verify.hpp"

#include <csignal>
#include <regex>

#include "machine/cpu.hpp"
#include "space/spoiled_copies.hpp"
#include "support/kinds.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

namespace {

void* returns_the_source(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    return const_cast<void*>(source);
}
constexpr asterope_candidate segmentation_fault = spoiled<[](Asked) { raise(SIGSEGV); }>;
constexpr asterope_candidate wrong_last_byte = spoiled<[](Asked a) { a.to[a.bytes - 1] ^= 1; }>;
constexpr asterope_candidate one_byte_too_far = spoiled<[](Asked a) { a.to[a.bytes] = 0; }>;
constexpr asterope_candidate illegal_instruction =
    spoiled<[](Asked a) { 1000 < a.bytes ? raise(SIGILL) : 0; }>;
constexpr asterope_candidate wrong_at_the_longest_distance =
    spoiled<[](Asked a) { a.to[64] ^= a.distance == 30 * 64; }>;
constexpr asterope_candidate wrong_at_the_longest_write_distance =
    spoiled<[](Asked a) { a.to[64] ^= (a.distance >> 32) == 32 * 64; }>;
constexpr asterope_candidate wrong_beyond_two_pages =
    spoiled<[](Asked a) { 9500 < a.bytes ? a.to[9500] ^= 1 : 0; }>;
constexpr asterope_candidate fault_at_distance_zero =
    spoiled<[](Asked a) { a.distance == 0 ? raise(SIGSEGV) : 0; }>;

const std::pair<asterope_candidate, const char*> kFaults[] = {
    {wrong_last_byte, "wrong byte 127 of 128 \\(source \\+0, destination \\+0\\)"},
    {spoiled<[](Asked a) {
         const bool here = a.bytes == 1025 && reinterpret_cast<std::uintptr_t>(a.from) % 64 == 7;
         if (here) a.to[512] ^= 0x80;
     }>,
     "wrong byte 512 of 1025 .*"},
    {spoiled<[](Asked a) { // a line in the wrong place
         if (1024 < a.bytes) std::memcpy(a.to + 512, a.from + 512 + 64, 64);
     }>,
     "wrong byte 51[2-9] of 1025 .*"},
    {one_byte_too_far, "stray write at byte 128 of 128 .*"},
    {spoiled<[](Asked a) { a.to[-1] = 0; }>, "stray write at byte -1 of 128 .*"},
    {returns_the_source, "wrong return value.*"},
    {segmentation_fault, "died: Segmentation fault"},
    {illegal_instruction, "died: Illegal instruction"},
};

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

/// The reason why `copy` is refused while good copies stand before and behind it.
std::string reason_of(asterope_candidate copy) {
    const asterope_variant before = variant(good), broken = variant(copy), after = variant(good, 2);
    EXPECT_TRUE(verdict({{&before, 0}, {&after, 0}, {&after, 30}}).empty());
    EXPECT_TRUE(verdict({}).empty());
    const auto reasons = verdict({{&before, 0}, {&broken, 0}, {&after, 0}});
    EXPECT_EQ(reasons.size(), 1u);
    return reasons.count(1) ? reasons.at(1) : "";
}

asterope_copy with(asterope_candidate copy) {
    return {"made up", {}, "", copy, nullptr, nullptr};
}
asterope_copy with(asterope_small_candidate copy) {
    return {"made up", {}, "", nullptr, copy, nullptr};
}

/// The same of a copy of another kind, which with some gets what it hands on to.
template <class Copy, class Table>
std::string reason_beside(Copy right, Copy fault, const Table& table, auto... large) {
    const asterope_copy good = with(right), broken = with(fault);
    EXPECT_TRUE(verify(table, {&good, &good}, large...).empty());
    EXPECT_TRUE(verify(table, {}, large...).empty());
    const std::vector<Invalid> invalid = verify(table, {&good, &broken, &good}, large...);
    EXPECT_EQ(invalid.size(), 1u);
    if (invalid.empty()) return "";
    EXPECT_EQ(invalid.front().index, 1u);
    return invalid.front().reason;
}

bool matches(const std::string& text, const char* pattern) {
    return std::regex_match(text, std::regex(pattern));
}

TEST(Verify, copies_whole_groups_of_pages_where_they_are_interleaved) {
    asterope_variant broken = variant(wrong_beyond_two_pages);
    EXPECT_TRUE(verdict({{&broken, 0}}).empty()) << "too large for the others";
    broken.acts_above = 8192;
    EXPECT_PRED2(matches, verdict({{&broken, 0}})[0], "wrong byte 9500 of 12288 .*");
}

TEST(Verify, tries_the_extreme_distances_of_prefetchw) {
    for (const asterope_candidate copy : {wrong_at_the_longest_write_distance, good}) {
        asterope_variant v = variant(copy, 4);
        // in no order, and not side by side: as lists of candidates to be timed are
        const asterope_variant other = variant(good);
        const auto reasons = verdict({{&v, 0, 32}, {&other, 0}, {&v, 8, 2}, {&v, 8, 4}});
        EXPECT_EQ(reasons.size(), copy == good ? 0u : 3u);
        EXPECT_EQ(reasons.count(1), 0u);
    }
}

TEST(Verify, names_what_is_wrong_and_where_the_buffers_lay) {
    for (const auto& [copy, reason] : kFaults) EXPECT_PRED2(matches, reason_of(copy), reason);
}

TEST(Verify, tries_the_extreme_distances_and_refuses_the_variant_at_all) {
    for (const asterope_candidate copy : {wrong_at_the_longest_distance, fault_at_distance_zero}) {
        const asterope_variant before = variant(good, 4), broken = variant(copy, 4),
                               after = variant(good, 4);
        std::vector<Candidate> space;
        for (const asterope_variant* v : {&before, &broken, &after}) {
            for (const int pd : {0, 8, 30}) space.push_back({v, pd});
        }
        const auto reasons = verdict(space);
        ASSERT_EQ(reasons.size(), 3u);
        for (const std::size_t index : {3, 4, 5}) EXPECT_EQ(reasons.count(index), 1u) << index;
    }
}

TEST(Verify, finds_all_of_many_at_both_ends_and_side_by_side) {
    const asterope_variant variants[] = {
        variant(segmentation_fault), variant(illegal_instruction), variant(good),
        variant(wrong_last_byte),    variant(one_byte_too_far),    variant(good),
        variant(returns_the_source), variant(segmentation_fault)};
    std::vector<Candidate> space;
    for (const asterope_variant& v : variants) space.push_back({&v, 0});
    const auto reasons = verdict(space);
    EXPECT_EQ(reasons.size(), 6u);
    EXPECT_EQ(reasons.count(2) + reasons.count(5), 0u);
    EXPECT_PRED2(matches, reasons.at(0), "died: Segmentation fault");
    EXPECT_PRED2(matches, reasons.at(4), "stray write.*");
    EXPECT_PRED2(matches, reasons.at(7), "died: Segmentation fault");
}

TEST(Verify, passes_the_real_ones_of_any_machine_and_all_that_this_cpu_runs) {
    const auto nothing = [](std::string_view) { return false; };
    const Cpu cpu = read_cpu();
    const auto own = [&](std::string_view name) { return has_feature(cpu, name); };
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

    const asterope_candidate set = sets.at(0).variant->copy;
    const std::pair<const asterope_kind*, asterope_candidate> kinds[] = {
        {&kOverlappingCopies, nullptr},
        {&kAliasedCopies, nullptr},
        {&kSmallCopies, good},
        {&kSmallSets, set}};
    for (const auto& [kind, pipeline] : kinds) {
        const std::vector<const asterope_copy*> copies = copies_of(*kind, own);
        ASSERT_FALSE(copies.empty());
        EXPECT_TRUE(verify(*kind, copies, pipeline).empty());
    }
}

const std::pair<asterope_candidate, const char*> kFaultsOfMoves[] = {
    {copy_upwards, "moves 128 bytes wrong \\(source \\+0, by 1\\)"},
    {spoiled<[](Asked a) { a.to[100] ^= a.to - a.from == -577; }>,
     "moves 577 bytes wrong \\(source \\+0, by -577\\)"},
    {spoiled<[](Asked a) { a.to[a.bytes] ^= a.bytes == 9001; }>, "moves 9001 bytes wrong .*"},
    {returns_the_source, "moves 128 bytes wrong .*"},
};

constexpr std::size_t kBound = 256;

/// How a small copy must be: it does up to its bound, `large` the rest.
void* small_good(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                 asterope_candidate large) {
    return (bytes > kBound ? large : copy_upwards)(destination, source, bytes, distance);
}
/// One with a fault, as `spoiled` makes of the others.
template <auto Spoil>
void* small_spoiled(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                    asterope_candidate large) {
    small_good(destination, source, bytes, distance, large);
    return Spoil({static_cast<char*>(destination), nullptr, bytes, distance});
}
void* forgets_the_large(void* destination, const void* source, std::size_t bytes, std::size_t,
                        asterope_candidate) {
    return bytes <= kBound ? copy_upwards(destination, source, bytes, 0) : destination;
}
void* wrong_at_the_bound(void* destination, const void* source, std::size_t bytes,
                         std::size_t distance, asterope_candidate large) {
    if (bytes >= kBound) return large(destination, source, bytes - 1, distance);
    return small_good(destination, source, bytes, distance, large);
}
const std::pair<asterope_small_candidate, const char*> kFaultsOfSmall[] = {
    {small_spoiled<[](Asked a) { return &(a.to[20] ^= a.bytes == 37) - 20; }>,
     "wrong byte 20 of 37 \\(source \\+0, destination \\+0\\)"},
    {small_spoiled<[](Asked a) { return a.bytes ? a.to : nullptr; }>,
     "wrong return value, byte 0 of 0 .*"},
    // stores that are too wide
    {small_spoiled<[](Asked a) { return a.bytes ? a.to : &(*a.to = 0); }>,
     "stray write at byte 0 of 0 .*"},
    {small_spoiled<[](Asked a) { return a.bytes == 15 ? &(a.to[-1] = 0) + 1 : a.to; }>,
     "stray write at byte -1 of 15 .*"},
    // and beyond the bound
    {forgets_the_large, "wrong byte 0 of 257 .*"},
    {wrong_at_the_bound, "wrong byte 255 of 256 .*"},
};

TEST(VerifyMoves, finds_what_goes_wrong_in_one_direction_or_by_one_distance) {
    for (const auto& [move, reason] : kFaultsOfMoves) {
        EXPECT_PRED2(matches, reason_beside<asterope_candidate>(good, move, kOverlappingCopies),
                     reason);
    }
}

TEST(VerifySmall, finds_what_is_wrong_at_one_size_too_wide_or_beyond_the_bound) {
    for (const auto& [copy, reason] : kFaultsOfSmall) {
        const std::string said = reason_beside(small_good, copy, kSmallCopies, good);
        EXPECT_PRED2(matches, said, reason);
    }
}

/// The byte that a set gets in place of a source.
int byte_of(const void* argument) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(argument) & 0xFF);
}
void* good_set(void* destination, const void* argument, std::size_t bytes, std::size_t) {
    return std::memset(destination, byte_of(argument), bytes);
}
void* small_good_set(void* destination, const void* argument, std::size_t bytes,
                     std::size_t distance, asterope_candidate large) {
    return (bytes > kBound ? large : good_set)(destination, argument, bytes, distance);
}
void* small_sets_zero(void* destination, const void*, std::size_t bytes, std::size_t distance,
                      asterope_candidate large) {
    return small_good_set(destination, nullptr, bytes, distance, large);
}

/// What it is refused for, as a pattern, or that it is right.
const std::pair<asterope_candidate, const char*> kSets[] = {
    {good_set, "right"},
    {spoiled<[](Asked a) { std::memset(a.to, 0, a.bytes); }, good_set>, "wrong byte 0 of 128 .*"},
    {spoiled<[](Asked a) { // the whole int
         const auto word = static_cast<int>(reinterpret_cast<std::uintptr_t>(a.from));
         std::memcpy(a.to, &word, sizeof word);
     },
             good_set>,
     "wrong byte 1 of 128 .*"},
    {spoiled<[](Asked a) { a.to[a.bytes] = 1; }, good_set>, "stray write at byte 128 of 128 .*"},
};

TEST(VerifySets, finds_a_wrong_value_and_stray_writes) {
    for (const auto& [set, reason] : kSets) {
        asterope_variant variant = made_up("XMM", "", "T", "none", 0);
        variant.space = &asterope_sets;
        variant.copy = set;
        const std::string said = verdict({{&variant, 0}})[0];
        EXPECT_PRED2(matches, said.empty() ? "right" : said, reason);
    }
    const std::string said = reason_beside(small_good_set, small_sets_zero, kSmallSets, good_set);
    EXPECT_PRED2(matches, said, "wrong byte 0 of 1 .*");
}

const asterope_sensing& sensing_at(std::size_t address) {
    return *reinterpret_cast<const asterope_sensing*>(address);
}
/// As if a probe took one tick: above the threshold of 0 only.
bool uncached(std::size_t sensing) {
    return sensing_at(sensing).threshold == 0;
}

void* sense_good(void* destination, const void* source, std::size_t bytes, std::size_t sensing) {
    const asterope_sensing& way = sensing_at(sensing);
    return uncached(sensing) ? way.cold(destination, source, bytes, way.cold_distance)
                             : way.hot(destination, source, bytes, way.hot_distance);
}
/// What it has there is no function.
void* sense_the_other_way(void* destination, const void* source, std::size_t bytes,
                          std::size_t sensing) {
    const asterope_sensing& way = sensing_at(sensing);
    return (uncached(sensing) ? way.hot : way.cold)(destination, source, bytes, 0);
}

TEST(VerifyProbe, passes_the_real_ones) {
    // A probe that takes no tick, as the counter moves too seldom, is above no threshold.
    if (const std::string reason = why_no_sensing(); !reason.empty()) GTEST_SKIP() << reason;
    const auto copies = copies_of(kProbes, [](std::string_view) { return false; });
    ASSERT_FALSE(copies.empty());
    EXPECT_TRUE(verify(kProbes, copies, good).empty());
    // the pipeline's faults are not theirs alone
    EXPECT_EQ(verify(kProbes, copies, wrong_last_byte).size(), copies.size());
}

TEST(VerifyProbe, tries_both_ways_and_finds_stray_writes) {
    const std::pair<asterope_candidate, const char*> faults[] = {
        {spoiled<[](Asked a) { a.to[a.bytes / 2] ^= !uncached(a.distance); }, sense_good>,
         "wrong byte 2048 of 4096 \\(source \\+0, destination \\+0\\)"},
        {spoiled<[](Asked a) { a.to[a.bytes - 1] ^= uncached(a.distance); }, sense_good>,
         "wrong byte 4095 of 4096 \\(source \\+0, destination \\+0\\)"},
        {sense_the_other_way, "died: Segmentation fault"},
        {spoiled<[](Asked a) {
             if (uncached(a.distance) && a.bytes == 8191) a.to[-1] = 0;
         },
                 sense_good>,
         "stray write at byte -1 of 8191 .*"},
    };
    for (const auto& [probe, reason] : faults)
        EXPECT_PRED2(matches, reason_beside(sense_good, probe, kProbes, good), reason);
}

} // namespace
