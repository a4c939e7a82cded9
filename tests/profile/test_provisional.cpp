// Whether a profile is provisional, and why: its rounds, winners that noise hid, libc's floors.
#include "profile/provisional.hpp"

#include "profile/profile.hpp"
#include "support/unit_test.hpp"

namespace {

/// Of 20 cells at two sizes, of which the first `wide` have a floor from `low` to `high`.
Profile noisy_profile(std::size_t wide = 0, double low = 0.3, double high = 1) {
    Profile profile;
    profile.search.noise.emplace();
    profile.choices.resize(4); // two sizes, one of an intent, small copies
    profile.choices[2].intent = Workload::cold;
    profile.choices[3].kind = ChoiceKind::small;
    for (std::size_t i = 0; i < 20; ++i) {
        auto& floors = profile.choices[i % 2].noise_floor;
        floors[static_cast<Workload>(i / 2)] =
            i < wide ? Estimate{1, low, high} : Estimate{1, 0.81, 1.24};
    }
    return profile;
}

std::string decided(Profile profile) {
    decide_whether_provisional(profile);
    const auto& noise = profile.search.noise;
    EXPECT_EQ(why_provisional(profile).empty(), !(noise && noise->provisional));
    return why_provisional(profile);
}

} // namespace

TEST(Provisional, is_a_profile_with_winners_that_noise_hid_those_of_sets_included) {
    Profile lost = noisy_profile();
    lost.choices[1].undecided = true;
    EXPECT_EQ(decided(lost), "noise hid the fastest copy of 1 choice");
    lost.choices[2].undecided = lost.choices[3].undecided = true;
    Choice& set = lost.choices.emplace_back();
    set.operation = Operation::set;
    set.undecided = true;
    EXPECT_EQ(decided(lost), "noise hid the fastest copy of 4 choices");
}

TEST(Provisional, is_a_profile_with_wide_floors_of_libcs_though_few_rounds_were_disturbed) {
    EXPECT_EQ(decided(noisy_profile(5)), "") << "a quarter";
    constexpr const char* kSix = "libc differed from itself by more than 25 % in 6 of 20 cells";
    EXPECT_EQ(decided(noisy_profile(6)), kSix);
    EXPECT_EQ(decided(noisy_profile(6, 1, 1.3)), kSix);
    EXPECT_EQ(decided(noisy_profile()), "");
    Profile unwatched = noisy_profile(20);
    unwatched.search.noise.reset();
    EXPECT_EQ(decided(unwatched), "");
    Profile sets = noisy_profile();
    Choice& small = sets.choices.emplace_back();
    small.operation = Operation::set;
    small.kind = ChoiceKind::small;
    for (int i = 0; i < 10; ++i) small.noise_floor[static_cast<Workload>(i)] = {1, 0.5, 2};
    EXPECT_EQ(decided(sets), "libc differed from itself by more than 25 % in 10 of 30 cells");
}

TEST(Provisional, has_all_reasons_and_old_files_have_none) {
    Profile all = noisy_profile(20);
    all.search.noise->provisional = true;
    all.search.noise->reason = "12 % of the rounds stayed disturbed";
    all.choices[1].undecided = true;
    EXPECT_EQ(
        decided(all),
        "12 % of the rounds stayed disturbed, and noise hid the fastest copy of 1 choice, and "
        "libc differed from itself by more than 25 % in 20 of 20 cells");
    Profile old = noisy_profile();
    old.search.noise->provisional = true;
    EXPECT_EQ(why_provisional(old), kUntoldReason);
}
