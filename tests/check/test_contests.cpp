// What is timed again: a profile's winners beside their runners-up, or one line why not.
#include "check/contests.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const HasFeature kAll = [](std::string_view) { return true; };
const HasFeature kOldCpu = [](std::string_view feature) { return feature.rfind("avx", 0) != 0; };

const json kXmm = {{"rt", "XMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "none"}, {"ps", 0}, {"pd", 0}};
const json kYmm = {{"rt", "YMM"}, {"lt", "T"}, {"st", "NT"}, {"pt", "T0"}, {"ps", 4}, {"pd", 8}};

json interval(std::size_t above, std::size_t size) {
    return {{"above", above},
            {"up_to", size},
            {"size", size},
            {"winner", {{"tuple", kXmm}, {"ratio", 1.2}}},
            {"proof", {{"lead", {{"median", 0.98}, {"low", 0.97}, {"high", 1}}}}},
            {"runners_up", {{{"tuple", kYmm}, {"ratio", 1.1}}}}};
}

json profile() {
    json sensing = interval(4096, 65536);
    sensing["sensing"] = {{"kind", "source"}, {"lines", 4},   {"threshold", 300},
                          {"hot", kXmm},      {"cold", kYmm}, {"ratio", 1.5}};
    const json whole = {
        {"search", {{"weights", {{"hot", 1}, {"cold", 3}, {"consume", 0}}}}},
        {"small",
         {{"distribution", "fleet"},
          {"objective", "predictable"},
          {"winner",
           {{"tuple", {{"shape", "stepped"}, {"rt", "XMM"}, {"order", "middle"}, {"bound", 128}}},
            {"ratio", 1.3}}},
          {"proof", {{"lead", {{"median", 1.01}}}}},
          {"runners_up",
           {{{"tuple", {{"shape", "stepped"}, {"rt", "XMM"}, {"order", "up"}, {"bound", 128}}}}}}}},
        {"intervals", {interval(0, 128), interval(128, 4096), sensing}}};
    return json::parse(whole.dump()); // numbers as files have them
}

std::string refusal(const json& profile, const HasFeature& has = kAll) {
    try {
        const CheckContests contests(profile, has, true);
    } catch (const BadInput& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(CheckContests, EachSizeHasItsWinnerAndItsBestRunnerUp) {
    const CheckContests contests(profile(), kAll, false);
    const auto& all = contests.all();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].label, "128 B");
    EXPECT_EQ(all[1].label, "64 KiB");
    EXPECT_EQ(all[2].label, "to 128 B") << "the small copies";
    EXPECT_EQ(all[3].label, "4 KiB");
    for (const std::size_t i : {0, 1, 3}) {
        EXPECT_EQ(all[i].holder.name, "XMM T T none 0 0");
        EXPECT_EQ(all[i].rival->name, "YMM T NT T0 4 8");
        EXPECT_NE(all[i].holder.copy.cache_effect, all[i].rival->copy.cache_effect);
        EXPECT_EQ(all[i].tuned.ratio, 1.2);
        EXPECT_EQ(all[i].tuned.lead, 0.98);
        EXPECT_EQ(all[i].weights, (Weights{{Workload::cold, 0.75}, {Workload::hot, 0.25}}));
    }
}

TEST(CheckContests, WhereTheRoutineSensesTheWinnerThatDoesNotIsTheRunnerUp) {
    const CheckContests contests(profile(), kAll, true);
    const HoldContest& contest = contests.all()[1];
    EXPECT_EQ(contest.holder.name, "source 4: XMM T T none 0 0, else YMM T NT T0 4 8");
    EXPECT_EQ(contest.rival->name, "XMM T T none 0 0");
    EXPECT_EQ(contest.tuned.ratio, 1.5);
    EXPECT_DOUBLE_EQ(contest.tuned.lead, 1.5 / 1.2);
    const auto* arguments = reinterpret_cast<const asterope_sensing*>(contest.holder.copy.distance);
    EXPECT_EQ(arguments->threshold, 300u);
    EXPECT_EQ(arguments->hot, contest.rival->copy.function);
    EXPECT_EQ(contests.all()[3].holder.name, "XMM T T none 0 0") << "it senses nothing";
}

TEST(CheckContests, SmallCopiesGoOnWithALargeOne) {
    const CheckContests contests(profile(), kAll, true);
    const HoldContest& small = contests.all()[2];
    EXPECT_EQ(small.size, 0u);
    EXPECT_EQ(small.holder.name, "stepped XMM middle 128");
    EXPECT_EQ(small.rival->name, "stepped XMM up 128");
    EXPECT_NE(small.holder.copy.function, nullptr);
    EXPECT_NE(small.holder.copy.large, nullptr);
    EXPECT_EQ(small.tuned.ratio, 1.3);
    EXPECT_EQ(small.tuned.lead, 1.01);
    double sum = 0;
    for (const auto& [workload, weight] : small.weights) {
        EXPECT_NE(workload, Workload::mix_l1);
        EXPECT_GT(weight, 0);
        sum += weight;
    }
    EXPECT_EQ(small.weights.size(), 4u) << "one size and page ends, alone and read";
    EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(CheckContests, SmallCopiesAreTimedUnderWhatTheyWereChosenBy) {
    json before = profile();
    before["small"]["winner"]["workloads"] = {{"mix_l1", json::object()},
                                              {"fixed", json::object()}};
    const CheckContests contests(before, kAll, true);
    EXPECT_EQ(contests.all()[2].weights, (Weights{{Workload::fixed, 1}}));
}

TEST(CheckContests, SmallCopiesOfAnotherDistributionAreLeftOutAndTold) {
    json other = profile();
    other["small"]["distribution"] = "mine.csv";
    const CheckContests contests(other, kAll, true);
    EXPECT_EQ(contests.all().size(), 3u);
    EXPECT_NE(contests.small_left_out(), "");
}

TEST(CheckContests, ABareProfileIsComparedWithLibcAlone) {
    json bare = {{"intervals", {{{"above", 0}, {"up_to", 128}, {"winner", {{"tuple", kXmm}}}}}}};
    bare = json::parse(bare.dump());
    const CheckContests contests(bare, kAll, true);
    ASSERT_EQ(contests.all().size(), 1u);
    EXPECT_FALSE(contests.all()[0].rival);
    EXPECT_EQ(contests.all()[0].tuned.ratio, 1);
    EXPECT_EQ(contests.all()[0].weights.size(), 4u) << "balanced";
    EXPECT_EQ(contests.small_left_out(), "");
}

TEST(CheckContests, WhatCannotBeTimedIsRefusedWithTheReason) {
    using Change = std::function<void(json&)>;
    const std::pair<Change, const char*> faults[] = {
        {[](json& p) { p["intervals"][1]["winner"]["tuple"]["rt"] = "QMM"; }, "copy of 4 KiB"},
        {[](json& p) { p["intervals"][1].erase("winner"); }, "copy of 4 KiB"},
        {[](json& p) { p["intervals"][1]["runners_up"][0]["tuple"]["pd"] = -1; }, "copy of 4 KiB"},
        {[](json& p) { p["intervals"][2]["sensing"]["kind"] = "x"; }, "sensing copy of 64 KiB"},
        {[](json& p) { p["intervals"][2]["sensing"]["threshold"] = -1; }, "sensing copy"},
        {[](json& p) { p["intervals"][0]["size"] = 1u; }, "less than 128"},
        {[](json& p) { p["intervals"][0]["size"] = "x"; }, "sizes that are none"},
        {[](json& p) { p["search"]["weights"]["cold"] = -1; }, "weights"},
        {[](json& p) { p["search"]["weights"]["warm"] = 1; }, "weights"},
        {[](json& p) {
             p["search"]["weights"] = {{"hot", 0}};
         },
         "all 0"},
        {[](json& p) {
             p["search"] = {{"workload", "warm"}};
         },
         "warm"},
        {[](json& p) { p["search"]["source_map"] = "/dev/pmem0"; }, "/dev/pmem0"},
        {[](json& p) { p["small"]["winner"]["tuple"]["bound"] = 7; }, "small copy"},
        {[](json& p) { p["small"]["objective"] = "speed"; }, "speed"},
    };
    for (const auto& [change, why] : faults) {
        json bad = profile();
        change(bad);
        EXPECT_NE(refusal(bad).find(why), std::string::npos) << why << ": " << refusal(bad);
    }
    EXPECT_EQ(refusal(profile()), "");
    EXPECT_NE(refusal(profile(), kOldCpu), "") << "a runner-up needs AVX";
}
