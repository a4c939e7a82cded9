// What is timed again: a profile's winners beside their runners-up, or one line why not.
#include "check/contests.hpp"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.hpp"
#include "search/small_search.hpp"
#include "support/mentions.hpp"
#include "support/refusal.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const HasFeature kAll = [](std::string_view) { return true; };
const HasFeature kOldCpu = [](std::string_view feature) { return feature.rfind("avx", 0) != 0; };

const json kXmm = {{"rt", "XMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "none"}, {"ps", 0}, {"pd", 0}};
const json kYmm = {{"rt", "YMM"}, {"lt", "T"}, {"st", "NT"}, {"pt", "T0"}, {"ps", 4}, {"pd", 8}};

json choice(const char* kind, std::size_t above, std::size_t up_to, const json& taken,
            const json& next = kYmm) {
    return {{"operation", "memcpy"},
            {"kind", kind},
            {"above", above},
            {"up_to", up_to},
            {"copies", {{"taken", taken}}},
            {"evidence",
             {{"ratio", 1.2},
              {"proof",
               {{"samples", 1},
                {"rounds", 1},
                {"lead", {{"median", 0.98}, {"low", 0.97}, {"high", 1}}},
                {"ties", json::array()}}},
              {"runners_up", {{{"tuple", next}, {"ratio", 1.1}}}}}}};
}

json small_tuple(const char* rt, const char* order) {
    return {{"shape", "stepped"}, {"rt", rt}, {"order", order}, {"bound", 128}};
}

json profile() {
    json senses = choice("pipelines", 4096, 65536, kXmm);
    senses["copies"] = {{"probe", {{"kind", "source"}, {"lines", 4}}},
                        {"threshold", 300},
                        {"hot", kXmm},
                        {"cold", kYmm},
                        {"plain", kXmm}};
    senses["evidence"]["ratio"] = 1.5;
    senses["evidence"]["plain"] = {{"ratio", 1.2}};
    json small = choice("small", 0, 128, small_tuple("XMM", "middle"), small_tuple("XMM", "up"));
    small["evidence"]["ratio"] = 1.3;
    small["evidence"]["proof"]["lead"]["median"] = 1.01;
    return {
        {"format", "asterope-profile"},
        {"version", 2},
        {"architecture", "x86_64"},
        {"complete", true},
        {"search",
         {{"weights", {{"memcpy", {{"hot", 1}, {"cold", 3}, {"consume", 0}}}}},
          {"distribution", "fleet"}}},
        {"choices",
         {choice("pipelines", 0, 128, kXmm), choice("pipelines", 128, 4096, kXmm), senses, small}}};
}

CheckContests contests_of(const json& profile, bool senses = true, const HasFeature& has = kAll) {
    return CheckContests(parse_profile(profile.dump(), "profile"), has, senses);
}

std::string refusal(const json& profile, const HasFeature& has = kAll) {
    return refusal_of([&] { contests_of(profile, true, has); });
}

} // namespace

TEST(CheckContests, EachSizeHasItsWinnerAndItsBestRunnerUp) {
    const CheckContests contests = contests_of(profile(), false);
    const auto& all = contests.all();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].label, "128 B");
    EXPECT_EQ(all[1].label, "64 KiB");
    EXPECT_EQ(all[2].label, "to 128 B") << "the small copies";
    EXPECT_EQ(all[3].label, "4 KiB");
    for (const std::size_t i : {0, 1, 3}) {
        EXPECT_EQ(all[i].holder.name, "XMM T T none 0 0");
        EXPECT_EQ(all[i].rival->name, "YMM T NT T0 4 8");
        EXPECT_NE(all[i].holder.cache_effect, all[i].rival->cache_effect);
        EXPECT_EQ(all[i].tuned.ratio, 1.2);
        EXPECT_EQ(all[i].tuned.lead, 0.98);
        EXPECT_EQ(all[i].weights, (Weights{{Workload::cold, 0.75}, {Workload::hot, 0.25}}));
    }
}

TEST(CheckContests, WhereTheRoutineSensesTheWinnerThatDoesNotIsTheRunnerUp) {
    const CheckContests contests = contests_of(profile());
    const HoldContest& contest = contests.all()[1];
    EXPECT_EQ(contest.holder.name, "source 4 > 300: YMM T NT T0 4 8, else XMM T T none 0 0");
    EXPECT_EQ(contest.rival->name, "XMM T T none 0 0");
    EXPECT_EQ(contest.tuned.ratio, 1.5);
    EXPECT_DOUBLE_EQ(contest.tuned.lead, 1.5 / 1.2);
    const auto* arguments = reinterpret_cast<const asterope_sensing*>(contest.holder.distance);
    EXPECT_EQ(arguments->threshold, 300u);
    EXPECT_EQ(arguments->hot, contest.rival->function);
    EXPECT_EQ(contests.all()[3].holder.name, "XMM T T none 0 0") << "it senses nothing";
}

TEST(CheckContests, SmallCopiesGoOnWithALargeOne) {
    const CheckContests contests = contests_of(profile());
    const HoldContest& small = contests.all()[2];
    EXPECT_EQ(small.size, 0u);
    EXPECT_EQ(small.holder.name, "stepped XMM middle 128");
    EXPECT_EQ(small.rival->name, "stepped XMM up 128");
    EXPECT_NE(small.holder.function, nullptr);
    EXPECT_NE(small.holder.large, nullptr);
    EXPECT_EQ(small.tuned.ratio, 1.3);
    EXPECT_EQ(small.tuned.lead, 1.01);
    double sum = 0;
    for (const auto& [workload, weight] : small.weights) {
        EXPECT_GT(weight, 0);
        sum += weight;
    }
    EXPECT_EQ(small.weights.size(), small_weights().size());
    EXPECT_DOUBLE_EQ(sum, 1);
}

namespace {

/// The same, for which memset was tuned, too.
json with_memset() {
    const json set = {{"rt", "ZMM"}, {"st", "T"}, {"tb", 4}, {"pw", 8}};
    const json next = {{"rt", "REP_STOSB"}, {"st", "T"}};
    json both = profile();
    both["search"]["weights"]["memset"] = {{"hot", 1}, {"cold", 1}, {"consume", 0}};
    for (json own :
         {choice("pipelines", 0, 512, set, next), choice("pipelines", 512, 65536, set, next),
          choice("small", 0, 128, small_tuple("YMM", "middle"), small_tuple("XMM", "middle"))}) {
        own["operation"] = "memset";
        both["choices"].push_back(std::move(own));
    }
    return both;
}

} // namespace

TEST(CheckContests, SetsTakeTurnsWithCopiesAndAreTimedAsSets) {
    const CheckContests contests = contests_of(with_memset());
    const auto& all = contests.all();
    std::vector<std::string> labels;
    for (const HoldContest& contest : all) labels.push_back(contest.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"128 B", "memset 512 B", "64 KiB", "memset 64 KiB",
                                                "to 128 B", "memset to 128 B", "4 KiB"}));
    EXPECT_EQ(contests.operations(), 2u);
    EXPECT_EQ(contests_of(profile()).operations(), 1u);
    for (const HoldContest& contest : all) {
        const bool sets = contest.label.find("memset") == 0;
        EXPECT_EQ(contest.holder.operation, sets ? Operation::set : Operation::copy);
        EXPECT_EQ(contest.rival->operation, contest.holder.operation);
    }
    for (const std::size_t i : {1, 3}) {
        EXPECT_EQ(all[i].holder.name, "ZMM T TB4 PW8");
        EXPECT_NE(all[i].holder.function, nullptr);
        EXPECT_EQ(all[i].rival->name, "REP_STOSB T");
        EXPECT_EQ(all[i].weights, (Weights{{Workload::cold, 0.5}, {Workload::hot, 0.5}}));
    }
    const HoldContest& small = all[5];
    EXPECT_EQ(small.holder.name, "stepped YMM middle 128");
    EXPECT_EQ(small.holder.large, all[3].holder.function) << "a set, not a copy";
    EXPECT_EQ(small.rival->name, "stepped XMM middle 128");
    EXPECT_EQ(small.tuned.ratio, 1.2);
    std::map<Workload, double> weights(small.weights.begin(), small.weights.end());
    EXPECT_NEAR(weights.at(Workload::fixed) / weights.at(Workload::mix_l2), 1, 1e-9)
        << "2 of copies: see small_weights";
}

TEST(CheckContests, SetsWithoutWeightsCountWhatSetsAreTunedForByDefault) {
    json both = with_memset();
    both["search"]["weights"].erase("memset");
    const CheckContests contests = contests_of(both);
    const Weights balanced = objective_of_sets(parse_objective("balanced")).weights;
    EXPECT_EQ(contests.all()[1].weights, balanced);
    both["search"]["weights"]["memset"] = {{"hot", 0}};
    EXPECT_TRUE(mentions(refusal(both), "weights of memset are all 0"));
}

TEST(CheckContests, SmallSetsOfAnotherDistributionAreLeftOutAndTold) {
    json other = with_memset();
    other["search"]["distribution"] = "mine.csv";
    const CheckContests contests = contests_of(other);
    EXPECT_EQ(contests.all().size(), 5u);
    EXPECT_EQ(contests.small_left_out(),
              "the small copies were tuned for calls of another distribution, "
              "the small sets were tuned for calls of another distribution");
}

TEST(CheckContests, ABareProfileIsComparedWithLibcAlone) {
    json bare = profile();
    bare.erase("search");
    json only = choice("pipelines", 0, 128, kXmm);
    only.erase("evidence");
    bare["choices"] = json::array({only});
    const CheckContests contests = contests_of(bare);
    ASSERT_EQ(contests.all().size(), 1u);
    EXPECT_FALSE(contests.all()[0].rival);
    EXPECT_EQ(contests.all()[0].tuned.ratio, 1);
    EXPECT_EQ(contests.all()[0].weights, weights_at(128, parse_objective("balanced").weights));
    EXPECT_EQ(contests.small_left_out(), "");
}

TEST(CheckContests, WhatCannotBeTimedIsRefusedWithTheReason) {
    const std::tuple<const char*, json, const char*> faults[] = {
        {"/choices/2/copies/probe/lines", 64, "choices[2].copies.probe: is no probe"},
        {"/choices/2/copies/probe/kind", "each", "choices[2].copies: has other pipelines"},
        {"/choices/2/copies/fetch", kXmm, "choices[2].copies: has other pipelines"},
        {"/search/weights/memcpy", {{"hot", 0}}, "all 0"},
        {"/search/source_map", "/dev/pmem0", "/dev/pmem0"},
    };
    for (const auto& [place, value, why] : faults) {
        json bad = profile();
        bad[json::json_pointer(place)] = value;
        EXPECT_TRUE(mentions(refusal(bad), why)) << why;
    }
    EXPECT_EQ(refusal(profile()), "");
    EXPECT_TRUE(
        mentions(refusal(profile(), kOldCpu), "memcpy of 128 B is none that this CPU can run"))
        << "a runner-up needs AVX";
}
