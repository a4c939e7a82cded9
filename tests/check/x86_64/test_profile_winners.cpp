// A check times a profile's winners beside their runners-up again, or says in one line why not.
#include "check/profile_winners.hpp"

#include "search/small_search.hpp"
#include "support/unit_test.hpp"

namespace {

const HasFeature kAll = [](std::string_view) { return true; };
const HasFeature kOldCpu = [](std::string_view feature) { return feature.rfind("avx", 0) != 0; };

const json kXmm = {{"rt", "XMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "none"}, {"ps", 0}, {"pd", 0}};
const json kYmm = {{"rt", "YMM"}, {"lt", "T"}, {"st", "NT"}, {"pt", "T0"}, {"ps", 4}, {"pd", 8}};

json choice(const char* kind, std::size_t above, std::size_t up_to, const json& taken,
            const json& next = kYmm) {
    json choice = json::parse(R"({
        "operation": "memcpy",
        "evidence": {"ratio": 1.2, "runners_up": [{"ratio": 1.1}],
                     "proof": {"samples": 1, "rounds": 1, "ties": [],
                               "lead": {"median": 0.98, "low": 0.97, "high": 1}}}})");
    choice.update({{"kind", kind}, {"above", above}, {"up_to", up_to}});
    choice["copies"]["taken"] = taken;
    choice["evidence"]["runners_up"][0]["tuple"] = next;
    return choice;
}

json small_tuple(const char* rt, const char* order) {
    return {{"shape", "stepped"}, {"rt", rt}, {"order", order}, {"bound", 128}};
}

json profile() {
    json senses = choice("pipelines", 16384, 65536, kXmm);
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
    json profile = json::parse(R"({
        "format": "asterope-profile", "version": 2, "architecture": "x86_64", "complete": true,
        "search": {"weights": {"memcpy": {"hot": 1, "cold": 3, "consume": 0}},
                   "distribution": "fleet"}})");
    profile["choices"] = {choice("pipelines", 0, 128, kXmm), choice("pipelines", 128, 16384, kXmm),
                          senses, small};
    return profile;
}

ProfileWinners winners_of(const json& profile, bool senses = true, const HasFeature& has = kAll) {
    return asterope::winners_of(parse_profile(profile.dump(), "profile"), has, senses);
}

std::string refusal(const json& profile, const HasFeature& has = kAll) {
    return refusal_of([&] { winners_of(profile, true, has); });
}

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

TEST(ProfileWinners, HaveOfEachSizeTheWinnerAndTheBestRunnerUpOfSetsInTurnWithCopies) {
    const struct {
        const char *label, *holder, *rival; ///< where the routine senses, that does not
        double ratio = 1.2, lead = 0.98;
    } rows[] = {
        {"128 B", "XMM T T none 0 0", "YMM T NT T0 4 8"},
        {"memset 512 B", "ZMM T TB4 PW8", "REP_STOSB T"},
        {"64 KiB", "source 4 > 300: YMM T NT T0 4 8, else XMM T T none 0 0", "XMM T T none 0 0",
         1.5, 1.5 / 1.2},
        {"memset 64 KiB", "ZMM T TB4 PW8", "REP_STOSB T"},
        {"to 128 B", "stepped XMM middle 128", "stepped XMM up 128", 1.3, 1.01},
        {"memset to 128 B", "stepped YMM middle 128", "stepped XMM middle 128"},
        {"16 KiB", "XMM T T none 0 0", "YMM T NT T0 4 8"},
    };
    const ProfileWinners winners = winners_of(with_memset());
    const auto& all = winners.all;
    ASSERT_EQ(all.size(), std::size(rows));
    for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE(rows[i].label);
        const ProfileWinner& one = all[i];
        EXPECT_EQ(one.label, rows[i].label);
        EXPECT_EQ(one.holder.name, rows[i].holder);
        EXPECT_EQ(one.rival->name, rows[i].rival);
        EXPECT_EQ(one.tuned.ratio, rows[i].ratio);
        EXPECT_DOUBLE_EQ(one.tuned.lead, rows[i].lead);
        const bool sets = one.label.starts_with("memset"),
                   small = one.label.find("to ") != one.label.npos;
        EXPECT_EQ(one.holder.operation, sets ? Operation::set : Operation::copy);
        EXPECT_EQ(one.rival->operation, one.holder.operation);
        EXPECT_NE(one.holder.function, nullptr);
        EXPECT_EQ(one.size == 0, small);
        const double hot = sets ? 0.5 : 0.25;
        EXPECT_TRUE(small ||
                    one.weights == Weights({{Workload::cold, 1 - hot}, {Workload::hot, hot}}));
    }
    EXPECT_NE(all[0].holder.cache_effect, all[0].rival->cache_effect);
    const auto* arguments = reinterpret_cast<const asterope_sensing*>(all[2].holder.argument);
    EXPECT_EQ(arguments->threshold, 300u);
    EXPECT_EQ(arguments->hot, all[2].rival->function);
    EXPECT_NE(all[4].holder.large, nullptr);
    EXPECT_EQ(all[4].weights, weights_at(0, small_weights()));
    EXPECT_EQ(all[5].holder.large, all[3].holder.function) << "a set, not a copy";
    EXPECT_NEAR(weight_of(all[5].weights, Workload::fixed),
                weight_of(all[5].weights, Workload::mix_l2), 1e-9)
        << "2 of copies: see small_weights";

    const ProfileWinners copies = winners_of(profile(), false); // nothing senses
    EXPECT_EQ(copies.all[1].holder.name, "XMM T T none 0 0");
    EXPECT_EQ(copies.all[1].rival->name, "YMM T NT T0 4 8");
    EXPECT_EQ(copies.all[1].tuned.ratio, 1.2);
}

TEST(ProfileWinners, SetsWithoutWeightsCountTheDefaultAndCopiesOfAnotherDistributionAreLeftOut) {
    json both = with_memset();
    both["search"]["weights"].erase("memset");
    const ProfileWinners winners = winners_of(both);
    const Weights balanced = objective_of_sets(parse_objective("balanced")).weights;
    EXPECT_EQ(winners.all[1].weights, weights_at(winners.all[1].size, balanced));
    both["search"]["weights"]["memset"] = {{"hot", 0}};
    EXPECT_TRUE(mentions(refusal(both), "search.weights.memset: no workload has one"));
    json other = with_memset();
    other["search"]["distribution"] = "mine.csv";
    const ProfileWinners fewer = winners_of(other);
    EXPECT_EQ(fewer.all.size(), 6u); // the small sets are always those of the fleet
    EXPECT_EQ(fewer.small_left_out,
              "the small copies were tuned for calls of another distribution");
}

TEST(ProfileWinners, ASetThatSensesIsComparedWithLibcsSets) {
    json both = with_memset();
    const json kept = {{"rt", "ZMM"}, {"st", "T"}}, past = {{"rt", "ZMM"}, {"st", "NT"}};
    json senses = choice("pipelines", 65536, 1 << 20, kept, past);
    senses["operation"] = "memset";
    senses["copies"] = {{"probe", {{"kind", "destination"}, {"lines", 2}}},
                        {"threshold", 300},
                        {"hot", kept},
                        {"cold", past},
                        {"plain", kept}};
    both["choices"].push_back(senses);
    for (const bool may_sense : {true, false}) {
        const ProfileWinners winners = winners_of(both, may_sense);
        const auto& all = winners.all;
        const auto found = std::ranges::find(all, std::size_t{1} << 20, &ProfileWinner::size);
        ASSERT_NE(found, all.end());
        EXPECT_EQ(found->holder.operation, Operation::set);
        EXPECT_EQ(found->holder.chooses, may_sense);
        EXPECT_EQ(found->holder.name,
                  may_sense ? "destination 2 > 300: ZMM NT, else ZMM T" : "ZMM T");
    }
}

TEST(ProfileWinners, ABareProfileIsComparedWithLibcAlone) {
    json bare = profile();
    bare.erase("search");
    json only = choice("pipelines", 0, 128, kXmm);
    only.erase("evidence");
    bare["choices"] = json::array({only});
    const ProfileWinners winners = winners_of(bare);
    ASSERT_EQ(winners.all.size(), 1u);
    EXPECT_FALSE(winners.all[0].rival);
    EXPECT_EQ(winners.all[0].tuned.ratio, 1);
    EXPECT_EQ(winners.all[0].weights, weights_at(128, parse_objective("balanced").weights));
    EXPECT_EQ(winners.small_left_out, "");
}

TEST(ProfileWinners, WhatCannotBeTimedIsRefusedWithTheReason) {
    const std::tuple<const char*, json, const char*> faults[] = {
        {"/choices/2/copies/probe/lines", 64, "choices[2].copies.probe: is not a probe"},
        {"/choices/2/copies/probe/kind", "each", "choices[2].copies: has other pipelines"},
        {"/choices/2/copies/fetch", kXmm, "choices[2].copies: has other pipelines"},
        {"/search/weights/memcpy", {{"hot", 0}}, "no workload has one"},
        {"/search/source_map", "/dev/pmem0", "/dev/pmem0"},
    };
    for (const auto& [place, value, why] : faults) {
        json bad = profile();
        bad[json::json_pointer(place)] = value;
        EXPECT_TRUE(mentions(refusal(bad), why)) << why;
    }
    EXPECT_TRUE(mentions(refusal(profile(), kOldCpu), "this CPU cannot run its memcpy of 128 B"))
        << "a runner-up needs AVX";
}

} // namespace
