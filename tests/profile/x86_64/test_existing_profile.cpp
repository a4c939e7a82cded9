// A profile that is worth more than the one to come stays; every other one gives way.
#include "profile/existing_profile.hpp"

#include <sys/stat.h>

#include "machine/machine.hpp"
#include "support/unit_test.hpp"

namespace {

const json kXmm = {{"rt", "XMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "none"}, {"ps", 0}, {"pd", 0}};

json this_machine() {
    Machine machine;
    machine.cpu.vendor = "GenuineIntel";
    machine.cpu.model = 85;
    machine.memory_bytes = std::size_t{64} << 30;
    return to_json(machine);
}

json choice(const char* operation, std::size_t above, std::size_t up_to, const json& tuple) {
    return {{"operation", operation},
            {"kind", "pipelines"},
            {"above", above},
            {"up_to", up_to},
            {"copies", {{"taken", tuple}}}};
}

json profile() {
    json profile = json::parse(R"({
        "format": "asterope-profile", "version": 2, "architecture": "x86_64", "complete": true,
        "search": {"rigor": "standard", "space": "extended", "axes": ["tb", "sensing"],
                   "weights": {"memcpy": {"hot": 0.333333, "cold": 0.333333, "consume": 0.333333}},
                   "distribution": "fleet", "threads": 4, "without": []}})");
    profile["machine"] = this_machine();
    profile["choices"] = {choice("memset", 0, 65536, {{"rt", "XMM"}, {"st", "T"}}),
                          choice("memcpy", 0, 128, kXmm), choice("memcpy", 128, 4096, kXmm),
                          choice("memcpy", 4096, 65536, kXmm)};
    return profile;
}

/// The options of the search that made profile(), with a change.
SearchOptions options_with(const std::function<void(SearchOptions&)>& change) {
    SearchOptions options;
    options.rigor = "standard";
    options.workload = "balanced";
    options.weights = equal_weights({Workload::hot, Workload::cold, Workload::consume});
    options.of(Operation::copy).sizes = {128, 4096, 65536};
    options.space = "extended";
    options.threads = 4;
    options.distribution = "fleet";
    options.operations = {Operation::copy, Operation::set};
    change(options);
    return options;
}
const SearchOptions kOptions = options_with([](SearchOptions&) {}),
                    kQuick = options_with([](SearchOptions&one) { one.rigor = "quick"; });

/// A value with changes; a null removes.
json changed(json value, const json& patch) {
    value.merge_patch(patch);
    return value;
}

class StandingProfile : public TemporaryFolder {
  protected:
    /// The refusal of the search; empty where it may replace the standing profile.
    std::string refusal(const json& standing, const SearchOptions& wanted,
                        bool may_end_early = false) {
        put("profile.json", standing.is_string() ? standing.get<std::string>() : standing.dump());
        return refusal_of([&] {
            refuse_worse_than_existing(folder / "profile.json", this_machine(), wanted,
                                       may_end_early);
        });
    }
};

} // namespace

TEST_F(StandingProfile, ALesserSearchIsRefusedAndToldWhy) {
    const std::pair<void (*)(SearchOptions&), const char*> lesser[] = {
        {[](SearchOptions& one) { one.rigor = "quick"; }, "rigor standard"},
        {[](SearchOptions& one) { one.of(Operation::copy).sizes.pop_back(); },
         "3 sizes to 64 KiB, not 2 to 4 KiB"},
        {[](SearchOptions& one) { one.space = "paper"; }, "the extended space"},
        {[](SearchOptions& one) { one.sensing = false; }, "copies that sense"},
        {[](SearchOptions& one) { one.threads = 1; }, "copies over threads"},
        {[](SearchOptions& one) { one.operations = {Operation::copy}; }, "memset"},
    };
    for (const auto& [change, why] : lesser) {
        const std::string refused = refusal(profile(), options_with(change));
        EXPECT_TRUE(mentions(refused, why)) << why << ": " << refused;
        EXPECT_TRUE(mentions(refused, "--fresh"));
        EXPECT_TRUE(mentions(refused, (folder / "profile.json").string()));
    }
}

TEST_F(StandingProfile, TheSameSearchAgainOrOneThatIsBetterInAnyRespectReplacesIt) {
    void (*const better[])(SearchOptions&) = {
        [](SearchOptions&) {}, [](SearchOptions& one) { one.rigor = "exhaustive"; },
        [](SearchOptions& one) { one.of(Operation::copy).sizes.push_back(131072); },
        [](SearchOptions& one) {
            one.of(Operation::copy).sizes = {1024};
            one.rigor = "quick";
        }};
    for (const auto& change : better) EXPECT_EQ(refusal(profile(), options_with(change)), "");
    EXPECT_EQ(refusal(changed(profile(), {{"search", {{"space", "paper"}}}}), kOptions), "");
    EXPECT_TRUE(mentions(refusal(profile(), kOptions, true), "time budget"));
}

TEST_F(StandingProfile, GivesWayToSizesAtMostTwiceOrHalfAsLarge) {
    const auto refusal_of_sizes = [&](std::vector<std::size_t> sizes) {
        return refusal(profile(), options_with([&](SearchOptions& one) {
                           one.of(Operation::copy).sizes = std::move(sizes);
                       }));
    };
    EXPECT_EQ(refusal_of_sizes({256, 8192, 32768}), "");
    EXPECT_TRUE(mentions(refusal_of_sizes({256, 8192}), "3 sizes to 64 KiB, not 2 to 8 KiB"));
    EXPECT_TRUE(mentions(refusal_of_sizes({128, 2048, 8192}), "not 3 to 8 KiB"));
}

TEST_F(StandingProfile, TakesPartInTheSameSearchAgainButInNoBetterOneAndOnNoOtherMachine) {
    put("profile.json", profile().dump());
    const auto found = [&](SearchOptions options, const json& machine) {
        find_standing(folder / "profile.json", machine, options);
        return std::pair(options.of(Operation::copy).standing, options.of(Operation::set).standing);
    };
    const Standing copies{
        {{128, {"XMM T T none 0 0"}}, {4096, {"XMM T T none 0 0"}}, {65536, {"XMM T T none 0 0"}}},
        ""};
    const std::pair<Standing, Standing> all = {copies, {{{65536, {"XMM T"}}}, ""}}, none;
    EXPECT_EQ(found(kOptions, this_machine()), all);
    EXPECT_EQ(found(kQuick, this_machine()), all);
    EXPECT_EQ(found(options_with([](auto& one) { one.rigor = "exhaustive"; }), this_machine()),
              none);
    EXPECT_EQ(found(kOptions, changed(this_machine(), {{"cpu", {{"model", 86}}}})), none);
    std::filesystem::remove(folder / "profile.json");
    EXPECT_EQ(found(kOptions, this_machine()), none);
}

TEST_F(StandingProfile, ForAnotherPurposeOrMachineItIsWorthNothing) {
    ASSERT_NE(refusal(profile(), kQuick), "");
    const json noise = json::parse(
        R"({"rounds": 1, "disturbed": {}, "repeated": 0, "kept": 1, "provisional": true})");
    const json hot = {{"hot", 1}, {"cold", nullptr}, {"consume", nullptr}};
    const json others[] = {
        {{"search", {{"weights", {{"memcpy", hot}}}}}},
        {{"search", {{"weights", nullptr}}}},
        {{"search", {{"source_map", "/dev/pmem0"}}}},
        {{"search", {{"without", json::array({"avx512"})}}}},
        {{"search", {{"distribution", "mine.csv"}}}},
        {{"search", {{"noise", noise}}}},
        {{"machine", {{"cpu", {{"model", 1}}}}}},
        {{"machine", nullptr}},
        {{"architecture", "aarch64"}},
        {{"complete", false}},
        {{"choices", "none"}},
        {{"search", 7}},
        {{"version", "1"}},
    };
    for (const json& change : others) {
        EXPECT_EQ(refusal(changed(profile(), change), kQuick), "") << change;
    }
}

TEST_F(StandingProfile, OfAnotherModeOfHugePagesItIsWorthNothingWhereFreshMemoryWasTuned) {
    json tuned = changed(profile(), {{"machine", {{"huge_pages", "never"}}}});
    const json machine = changed(this_machine(), {{"huge_pages", "always"}});
    const auto refused = [&] {
        put("profile.json", tuned.dump());
        return refusal_of(
            [&] { refuse_worse_than_existing(folder / "profile.json", machine, kQuick, false); });
    };
    EXPECT_NE(refused(), "");
    tuned["choices"].push_back(
        {{"operation", "memcpy"},
         {"kind", "fresh"},
         {"above", 65535},
         {"up_to", 131072},
         {"copies", {{"taken", {{"stage", "populate"}, {"piece", 65536}}}}}});
    EXPECT_EQ(refused(), "");
}

TEST_F(StandingProfile, AMergedOneIsOfEachMachineItCameFrom) {
    const json of_another =
        changed(profile(), {{"machine", {{"cpu", {{"model", 1}}}, {"fingerprint", nullptr}}}});
    const auto merged_with = [&](const json& machine) {
        const json sources = {{{"name", "a"}, {"machine", of_another["machine"]}},
                              {{"name", "b"}, {"machine", machine}}};
        return changed(of_another, {{"merged", {{"from", "machines"}, {"sources", sources}}}});
    };
    EXPECT_NE(refusal(merged_with(this_machine()), kQuick), "");
    EXPECT_EQ(refusal(merged_with(of_another["machine"]), kQuick), "");
}

TEST_F(StandingProfile, AFileThatIsNotAProfileIsWorthNothing) {
    for (const char* text : {"", "{", "[]", "null", "7", "{}", "an earlier profile", "\xff\xfe"}) {
        EXPECT_EQ(refusal(std::string(text), kOptions), "") << text;
    }
    EXPECT_EQ(refusal(std::string(100000, '['), kOptions), "");
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0); // which is not waited for
    for (const char* name : {"none.json", "none/none.json", "pipe"}) {
        EXPECT_NO_THROW(refuse_worse_than_existing(folder / name, this_machine(), kOptions, false));
    }
}

TEST_F(StandingProfile, ThatOfANewerVersionAndAnUnreadableOneAreNotReplaced) {
    EXPECT_TRUE(mentions(refusal(changed(profile(), {{"version", 3}}), kOptions), "newer"));
    const std::string large(std::size_t{17} << 20, ' ');
    EXPECT_TRUE(mentions(refusal(large, kOptions), "longer than 16 MiB; --fresh"));
}
