// Verification: broken copies are named with what they did, good ones beside them stay valid.
#include "space/verify.hpp"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <regex>

#include "machine/cpu.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;

namespace {

/// Byte by byte, as no compiler may turn into a call or a wider copy.
void copy_bytes(void* destination, const void* source, std::size_t bytes) {
    auto* to = static_cast<volatile char*>(destination);
    const auto* from = static_cast<const char*>(source);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

void* good(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return std::memcpy(destination, source, bytes);
}
void* wrong_last_byte(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    static_cast<char*>(destination)[bytes - 1] ^= 1;
    return destination;
}
void* wrong_at_one_size_and_offset(void* destination, const void* source, std::size_t bytes,
                                   std::size_t) {
    std::memcpy(destination, source, bytes);
    const bool here = bytes == 1025 && reinterpret_cast<std::uintptr_t>(source) % 64 == 7;
    if (here) static_cast<char*>(destination)[512] ^= 0x80;
    return destination;
}
void* shifted_by_a_line(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    if (bytes > 1024) {
        std::memcpy(static_cast<char*>(destination) + 512,
                    static_cast<const char*>(source) + 512 + 64, 64);
    }
    return destination;
}
void* one_byte_short(void* destination, const void* source, std::size_t bytes, std::size_t) {
    copy_bytes(destination, source, bytes - 1);
    return destination;
}
void* one_byte_too_far(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    static_cast<char*>(destination)[bytes] = 0;
    return destination;
}
void* one_byte_before(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    static_cast<char*>(destination)[-1] = 0;
    return destination;
}
void* returns_the_source(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memcpy(destination, source, bytes);
    return const_cast<void*>(source);
}
void* returns_the_end(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return static_cast<char*>(std::memcpy(destination, source, bytes)) + bytes;
}
void* segmentation_fault(void*, const void*, std::size_t, std::size_t) {
    std::raise(SIGSEGV);
    return nullptr;
}
void* illegal_instruction(void* destination, const void* source, std::size_t bytes, std::size_t) {
    if (bytes > 1000) std::raise(SIGILL);
    return std::memcpy(destination, source, bytes);
}
void* wrong_at_the_longest_distance(void* destination, const void* source, std::size_t bytes,
                                    std::size_t distance) {
    std::memcpy(destination, source, bytes);
    if (distance == 30 * 64) static_cast<char*>(destination)[64] ^= 1;
    return destination;
}
void* wrong_at_the_longest_write_distance(void* destination, const void* source, std::size_t bytes,
                                          std::size_t distance) {
    std::memcpy(destination, source, bytes);
    if (distance >> 32 == 32 * 64) static_cast<char*>(destination)[64] ^= 1;
    return destination;
}
void* wrong_beyond_two_pages(void* destination, const void* source, std::size_t bytes,
                             std::size_t) {
    std::memcpy(destination, source, bytes);
    if (bytes > 9500) static_cast<char*>(destination)[9500] ^= 1;
    return destination;
}
void* fault_at_distance_zero(void* destination, const void* source, std::size_t bytes,
                             std::size_t distance) {
    if (distance == 0) std::raise(SIGSEGV);
    return std::memcpy(destination, source, bytes);
}

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
    const asterope_variant before = variant(good), broken = variant(copy), after = variant(good);
    const auto reasons = verdict({{&before, 0}, {&broken, 0}, {&after, 0}});
    EXPECT_EQ(reasons.size(), 1u);
    return reasons.count(1) ? reasons.at(1) : "";
}

bool matches(const std::string& text, const char* pattern) {
    return std::regex_match(text, std::regex(pattern));
}

} // namespace

TEST(Verify, passes_good_copies) {
    const asterope_variant one = variant(good), two = variant(good, 2);
    EXPECT_TRUE(verdict({{&one, 0}, {&two, 0}, {&two, 30}}).empty());
}

TEST(Verify, of_nothing_finds_nothing) {
    EXPECT_TRUE(verdict({}).empty());
}

TEST(Verify, passes_the_real_candidates_of_any_x86_64) {
    EXPECT_TRUE(verdict(paper_space([](std::string_view) { return false; })).empty());
}

TEST(Verify, passes_the_real_extensions_that_this_cpu_runs) {
    const Cpu cpu = read_cpu();
    std::vector<Candidate> space;
    for (const asterope_variant* v :
         extension_variants([&](std::string_view name) { return has_feature(cpu, name); })) {
        const bool writes = Candidate{v, 0}.prefetches_destination();
        space.push_back({v, 0, writes ? 2 : 0});
        space.push_back({v, v->ps ? 30 : 0, writes ? 32 : 0});
    }
    EXPECT_GE(space.size(), 600u); // what XMM has
    EXPECT_TRUE(verdict(space).empty());
}

TEST(Verify, copies_whole_groups_of_pages_where_they_are_interleaved) {
    asterope_variant broken = variant(wrong_beyond_two_pages);
    EXPECT_TRUE(verdict({{&broken, 0}}).count(0) == 0) << "too large for the others";
    broken.acts_above = 8192;
    const auto reasons = verdict({{&broken, 0}});
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_PRED2(matches, reasons.at(0), "wrong byte 9500 of 12288 .*");
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

TEST(Verify, names_the_wrong_byte_and_where_the_buffers_lay) {
    EXPECT_EQ(reason_of(wrong_last_byte), "wrong byte 127 of 128 (source +0, destination +0)");
    EXPECT_EQ(reason_of(one_byte_short), "wrong byte 127 of 128 (source +0, destination +0)");
}

TEST(Verify, finds_what_is_wrong_at_one_size_and_offset_only) {
    EXPECT_PRED2(matches, reason_of(wrong_at_one_size_and_offset), "wrong byte 512 of 1025 .*");
}

TEST(Verify, finds_lines_that_landed_in_the_wrong_place) {
    EXPECT_PRED2(matches, reason_of(shifted_by_a_line), "wrong byte 51[2-9] of 1025 .*");
}

TEST(Verify, finds_stray_writes_on_both_sides) {
    EXPECT_PRED2(matches, reason_of(one_byte_too_far), "stray write at byte 128 of 128 .*");
    EXPECT_PRED2(matches, reason_of(one_byte_before), "stray write at byte -1 of 128 .*");
}

TEST(Verify, finds_wrong_return_values) {
    EXPECT_PRED2(matches, reason_of(returns_the_source), "wrong return value.*");
    EXPECT_PRED2(matches, reason_of(returns_the_end), "wrong return value.*");
}

TEST(Verify, survives_candidates_that_crash) {
    EXPECT_PRED2(matches, reason_of(segmentation_fault), "died: Segmentation fault");
    EXPECT_PRED2(matches, reason_of(illegal_instruction), "died: Illegal instruction");
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

// --- Moves ---------------------------------------------------------------------------------------

namespace {

void* move_good(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return std::memmove(destination, source, bytes);
}
/// As a copy in blocks would be that loads its last bytes when others were stored over them.
void* move_upwards_only(void* destination, const void* source, std::size_t bytes, std::size_t) {
    copy_bytes(destination, source, bytes);
    return destination;
}
void* move_wrong_by_577(void* destination, const void* source, std::size_t bytes, std::size_t) {
    const auto apart = static_cast<char*>(destination) - static_cast<const char*>(source);
    std::memmove(destination, source, bytes);
    if (apart == -577) static_cast<char*>(destination)[100] ^= 1;
    return destination;
}
void* move_too_far(void* destination, const void* source, std::size_t bytes, std::size_t) {
    std::memmove(destination, source, bytes);
    if (bytes == 9001) static_cast<char*>(destination)[bytes] ^= 1;
    return destination;
}
void* move_returns_the_end(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return static_cast<char*>(std::memmove(destination, source, bytes)) + bytes;
}

using Copies = std::vector<const asterope_copy*>;

asterope_copy with(asterope_candidate copy) {
    return {"made up", {}, "", copy, nullptr, nullptr};
}

/// The reason why `move` is refused while good ones stand before and behind it.
std::string move_reason_of(asterope_candidate move) {
    const asterope_copy good = with(move_good), broken = with(move);
    const std::vector<Invalid> invalid =
        verify(asterope_overlapping_copies, {&good, &broken, &good});
    EXPECT_EQ(invalid.size(), 1u);
    if (invalid.empty()) return "";
    EXPECT_EQ(invalid.front().index, 1u);
    return invalid.front().reason;
}

} // namespace

TEST(VerifyMoves, passes_good_ones) {
    const asterope_copy copy = with(move_good);
    EXPECT_TRUE(verify(asterope_overlapping_copies, {&copy}).empty());
    EXPECT_TRUE(verify(asterope_overlapping_copies, {}).empty());
}

TEST(VerifyMoves, passes_the_real_ones_that_this_cpu_runs) {
    const Cpu cpu = read_cpu();
    const Copies space = copies_of(asterope_overlapping_copies,
                                   [&](std::string_view name) { return has_feature(cpu, name); });
    ASSERT_FALSE(space.empty());
    EXPECT_TRUE(verify(asterope_overlapping_copies, space).empty());
}

TEST(VerifyMoves, finds_what_goes_wrong_in_one_direction_or_by_one_distance) {
    EXPECT_EQ(move_reason_of(move_upwards_only), "moves 128 bytes wrong (source +0, by 1)");
    EXPECT_EQ(move_reason_of(move_wrong_by_577), "moves 577 bytes wrong (source +0, by -577)");
}

TEST(VerifyMoves, finds_stray_writes_wrong_return_values_and_crashes) {
    EXPECT_PRED2(matches, move_reason_of(move_too_far), "moves 9001 bytes wrong .*");
    EXPECT_PRED2(matches, move_reason_of(move_returns_the_end), "moves 128 bytes wrong .*");
    EXPECT_PRED2(matches, move_reason_of(segmentation_fault), "died: Segmentation fault");
}

// --- Small copies --------------------------------------------------------------------------------

namespace {

constexpr std::size_t kBound = 256;

/// How a small copy must be: it does up to its bound, `large` the rest.
void* small_good(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                 asterope_candidate large) {
    if (bytes > kBound) return large(destination, source, bytes, distance);
    copy_bytes(destination, source, bytes);
    return destination;
}
void* writes_where_there_is_nothing(void* destination, const void* source, std::size_t bytes,
                                    std::size_t distance, asterope_candidate large) {
    if (bytes == 0) *static_cast<char*>(destination) = 0;
    return small_good(destination, source, bytes, distance, large);
}
void* wrong_at_37(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                  asterope_candidate large) {
    small_good(destination, source, bytes, distance, large);
    if (bytes == 37) static_cast<char*>(destination)[20] ^= 1;
    return destination;
}
void* too_wide_at_the_end(void* destination, const void* source, std::size_t bytes,
                          std::size_t distance, asterope_candidate large) {
    small_good(destination, source, bytes, distance, large);
    if (bytes == 3) static_cast<char*>(destination)[3] = 0; // a store of 4
    return destination;
}
void* too_wide_at_the_begin(void* destination, const void* source, std::size_t bytes,
                            std::size_t distance, asterope_candidate large) {
    small_good(destination, source, bytes, distance, large);
    if (bytes == 15) static_cast<char*>(destination)[-1] = 0;
    return destination;
}
void* forgets_the_large(void* destination, const void* source, std::size_t bytes, std::size_t,
                        asterope_candidate) {
    if (bytes <= kBound) copy_bytes(destination, source, bytes);
    return destination;
}
void* wrong_at_the_bound(void* destination, const void* source, std::size_t bytes,
                         std::size_t distance, asterope_candidate large) {
    if (bytes >= kBound) return large(destination, source, bytes - 1, distance);
    return small_good(destination, source, bytes, distance, large);
}
void* returns_nothing_for_nothing(void* destination, const void* source, std::size_t bytes,
                                  std::size_t distance, asterope_candidate large) {
    small_good(destination, source, bytes, distance, large);
    return bytes ? destination : nullptr;
}
void* dies_at_64(void* destination, const void* source, std::size_t bytes, std::size_t distance,
                 asterope_candidate large) {
    if (bytes == 64) std::raise(SIGILL);
    return small_good(destination, source, bytes, distance, large);
}

asterope_copy with(asterope_small_candidate copy) {
    return {"made up", {}, "", nullptr, copy, nullptr};
}

/// The reason why `copy` is refused while good copies stand before and behind it.
std::string small_reason_of(asterope_small_candidate copy, asterope_candidate large = good) {
    const asterope_copy good = with(small_good), broken = with(copy);
    const std::vector<Invalid> invalid =
        verify(asterope_small_copies, {&good, &broken, &good}, large);
    EXPECT_EQ(invalid.size(), 1u);
    if (invalid.empty()) return "";
    EXPECT_EQ(invalid.front().index, 1u);
    return invalid.front().reason;
}

} // namespace

TEST(VerifySmall, passes_good_copies) {
    const asterope_copy copy = with(small_good);
    EXPECT_TRUE(verify(asterope_small_copies, {&copy, &copy}, good).empty());
    EXPECT_TRUE(verify(asterope_small_copies, {}, good).empty());
}

TEST(VerifySmall, passes_the_real_ones_of_any_x86_64) {
    const Copies space = copies_of(asterope_small_copies, [](std::string_view) { return false; });
    ASSERT_FALSE(space.empty());
    EXPECT_TRUE(verify(asterope_small_copies, space, good).empty());
}

TEST(VerifySmall, finds_what_is_wrong_at_one_size) {
    EXPECT_EQ(small_reason_of(wrong_at_37), "wrong byte 20 of 37 (source +0, destination +0)");
    EXPECT_PRED2(matches, small_reason_of(returns_nothing_for_nothing),
                 "wrong return value, copy 0 of 0 .*");
    EXPECT_PRED2(matches, small_reason_of(dies_at_64), "died: Illegal instruction");
}

TEST(VerifySmall, finds_stores_that_are_too_wide) {
    EXPECT_PRED2(matches, small_reason_of(writes_where_there_is_nothing),
                 "stray write at byte 0 of 0 .*");
    EXPECT_PRED2(matches, small_reason_of(too_wide_at_the_end), "stray write at byte 3 of 3 .*");
    EXPECT_PRED2(matches, small_reason_of(too_wide_at_the_begin),
                 "stray write at byte -1 of 15 .*");
}

TEST(VerifySmall, goes_beyond_the_bound) {
    EXPECT_PRED2(matches, small_reason_of(forgets_the_large), "wrong byte 0 of 257 .*");
    EXPECT_PRED2(matches, small_reason_of(wrong_at_the_bound), "wrong byte 255 of 256 .*");
}

TEST(VerifySmall, finds_all_of_many) {
    const asterope_copy dies = with(dies_at_64), right = with(small_good),
                        wrong = with(wrong_at_37);
    std::vector<std::size_t> indices;
    for (const Invalid& invalid :
         verify(asterope_small_copies, {&dies, &dies, &right, &wrong}, good)) {
        indices.push_back(invalid.index);
    }
    EXPECT_EQ(indices, (std::vector<std::size_t>{0, 1, 3}));
}

// --- Sets ----------------------------------------------------------------------------------------

namespace {

/// The byte that a set gets in place of a source.
int byte_of(const void* argument) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(argument) & 0xFF);
}
void* good_set(void* destination, const void* argument, std::size_t bytes, std::size_t) {
    return std::memset(destination, byte_of(argument), bytes);
}
void* sets_zero(void* destination, const void*, std::size_t bytes, std::size_t) {
    return std::memset(destination, 0, bytes);
}
void* sets_the_whole_int(void* destination, const void* argument, std::size_t bytes, std::size_t) {
    const auto word = static_cast<int>(reinterpret_cast<std::uintptr_t>(argument));
    std::memset(destination, byte_of(argument), bytes);
    return std::memcpy(destination, &word, sizeof word);
}
void* sets_too_far(void* destination, const void* argument, std::size_t bytes, std::size_t) {
    std::memset(destination, byte_of(argument), bytes);
    static_cast<char*>(destination)[bytes] = 1;
    return destination;
}
void* small_good_set(void* destination, const void* argument, std::size_t bytes,
                     std::size_t distance, asterope_candidate large) {
    if (bytes > kBound) return large(destination, argument, bytes, distance);
    return std::memset(destination, byte_of(argument), bytes);
}
void* small_sets_too_much(void* destination, const void* argument, std::size_t bytes,
                          std::size_t distance, asterope_candidate large) {
    return bytes == 3 ? sets_too_far(destination, argument, bytes, distance)
                      : small_good_set(destination, argument, bytes, distance, large);
}

std::string reason_of_set(asterope_candidate set) {
    asterope_variant variant = made_up("XMM", "", "T", "none", 0);
    variant.space = &asterope_sets;
    variant.copy = set;
    const std::vector<Invalid> invalid = verify({Candidate{&variant, 0}});
    return invalid.empty() ? "right" : invalid.front().reason;
}

} // namespace

TEST(VerifySets, passes_what_sets_every_byte_to_the_low_8_bits) {
    EXPECT_EQ(reason_of_set(good_set), "right");
    const asterope_copy small = with(small_good_set);
    EXPECT_TRUE(verify(asterope_small_sets, {&small}, good_set).empty());
}

TEST(VerifySets, finds_a_wrong_value_and_stray_writes) {
    EXPECT_PRED2(matches, reason_of_set(sets_zero), "wrong byte 0 of 128 .*");
    EXPECT_PRED2(matches, reason_of_set(sets_the_whole_int), "wrong byte 1 of 128 .*");
    EXPECT_PRED2(matches, reason_of_set(sets_too_far), "stray write at byte 128 of 128 .*");
    const asterope_copy small = with(small_sets_too_much);
    const std::vector<Invalid> invalid = verify(asterope_small_sets, {&small}, good_set);
    ASSERT_EQ(invalid.size(), 1u);
    EXPECT_PRED2(matches, invalid.front().reason, "stray write at byte 3 of 3 .*");
}

TEST(VerifySets, passes_the_real_ones_of_any_x86_64) {
    const auto nothing = [](std::string_view) { return false; };
    const std::vector<Candidate> space = paper_space(nothing, asterope_sets);
    ASSERT_FALSE(space.empty());
    EXPECT_TRUE(verify(space).empty());
    const Copies small = copies_of(asterope_small_sets, nothing);
    ASSERT_FALSE(small.empty());
    EXPECT_TRUE(verify(asterope_small_sets, small, space.front().variant->copy).empty());
}

// --- Copies that sense ---------------------------------------------------------------------------

namespace {

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
void* sense_wrong_if_cached(void* destination, const void* source, std::size_t bytes,
                            std::size_t sensing) {
    sense_good(destination, source, bytes, sensing);
    if (!uncached(sensing)) static_cast<char*>(destination)[bytes / 2] ^= 1;
    return destination;
}
void* sense_wrong_if_uncached(void* destination, const void* source, std::size_t bytes,
                              std::size_t sensing) {
    sense_good(destination, source, bytes, sensing);
    if (uncached(sensing)) static_cast<char*>(destination)[bytes - 1] ^= 1;
    return destination;
}
void* sense_stray(void* destination, const void* source, std::size_t bytes, std::size_t sensing) {
    sense_good(destination, source, bytes, sensing);
    if (uncached(sensing) && bytes == 8191) static_cast<char*>(destination)[-1] = 0;
    return destination;
}
/// What it has there is no function.
void* sense_the_other_way(void* destination, const void* source, std::size_t bytes,
                          std::size_t sensing) {
    const asterope_sensing& way = sensing_at(sensing);
    return (uncached(sensing) ? way.hot : way.cold)(destination, source, bytes, 0);
}

/// The reason why the probe is refused while good ones stand before and behind it.
std::string probe_reason_of(asterope_candidate sense, asterope_candidate pipeline = good) {
    const asterope_copy fine = with(sense_good), broken = with(sense);
    const std::vector<Invalid> invalid = verify(asterope_probes, {&fine, &broken, &fine}, pipeline);
    EXPECT_EQ(invalid.size(), 1u);
    if (invalid.empty()) return "";
    EXPECT_EQ(invalid.front().index, 1u);
    return invalid.front().reason;
}

} // namespace

TEST(VerifyProbe, passes_good_copies) {
    const asterope_copy probe = with(sense_good);
    EXPECT_TRUE(verify(asterope_probes, {&probe, &probe}, good).empty());
    EXPECT_TRUE(verify(asterope_probes, {}, good).empty());
}

TEST(VerifyProbe, passes_the_real_ones) {
    // A probe that takes no tick, as the counter moves too seldom, is above no threshold.
    if (const std::string reason = why_no_sensing(); !reason.empty()) GTEST_SKIP() << reason;
    const auto nothing = [](std::string_view) { return false; };
    const Copies copies = copies_of(asterope_probes, nothing);
    ASSERT_FALSE(copies.empty());
    EXPECT_TRUE(verify(asterope_probes, copies, good).empty());
    // the pipeline's faults are not theirs alone
    EXPECT_EQ(verify(asterope_probes, copies, wrong_last_byte).size(), copies.size());
}

TEST(VerifyProbe, tries_both_ways) {
    EXPECT_EQ(probe_reason_of(sense_wrong_if_cached),
              "wrong byte 2048 of 4096 (source +0, destination +0)");
    EXPECT_EQ(probe_reason_of(sense_wrong_if_uncached),
              "wrong byte 4095 of 4096 (source +0, destination +0)");
    EXPECT_PRED2(matches, probe_reason_of(sense_the_other_way), "died: Segmentation fault");
}

TEST(VerifyProbe, finds_stray_writes) {
    EXPECT_PRED2(matches, probe_reason_of(sense_stray), "stray write at byte -1 of 8191 .*");
}
