// The common best of several machines is the copy that serves them all best, and no other.
#include "merge/common_best.hpp"

#include "support/made_up_search.hpp"
#include "support/unit_test.hpp"

namespace {

const std::string kOwn = "XMM T T T0 8 4", kTheirs = "R64 T T T1 8 16", kCommon = "XMM T T T1 8 4",
                  kLarge = "XMM T NT NTA 8 4";

/// These copies take so many times as long as libc, the others a little longer than that.
MadeUpFactor factors_of(std::map<std::string, double> factors) {
    return [=](const std::string& name, std::size_t size, Workload) {
        const auto at = factors.find(name);
        return size <= 1024 || at == factors.end() ? 0 : at->second;
    };
}

/// On each machine another copy is best, and a third is nearly so on both. From 40000 bytes on they
/// agree.
MadeUpFactor machine(const std::string& best) {
    return [best](const std::string& name, std::size_t size, Workload) {
        std::map<std::string, double> factors = {{kLarge, 0.6}};
        if (size <= 40000) factors = {{best, 0.5}, {kOwn, 0.9}, {kTheirs, 0.9}, {kCommon, 0.55}};
        factors.insert({{"stepped XMM up 256", 0.7},
                        {"overlapping XMM 128", size < 20000 ? 0.2 : 2},
                        {"threads 2 even", 0.4}});
        const auto at = factors.find(name);
        if (at != factors.end()) return at->second;
        return name.starts_with("stepped XMM") ? 0.8 : 0.0;
    };
}

struct CommonBestOf : TemporaryFolder {
    std::string search(const MadeUpFactor& factor, std::uint64_t noise = 1,
                       const TuningRequest& request = made_up_request()) {
        const auto path = folder / ("log " + std::to_string(files()));
        run_made_up_search(path, request, made_up_truth(factor), noise);
        return path.string();
    }
    /// Of few sizes, where it matters only whether logs belong together.
    static TuningRequest short_request() {
        TuningRequest request = made_up_request();
        request.options.of(Operation::copy).sizes = {128, 1024};
        return request;
    }
    static CommonBest best(const std::vector<std::string>& paths) {
        std::vector<MergeSource> sources;
        for (const std::string& path : paths) sources.push_back(read_merge_source(path));
        return common_best(std::move(sources));
    }
    static std::string refusal(const std::vector<std::string>& paths) {
        return refusal_of([&] { best(paths); }, "accepted");
    }
};

} // namespace

TEST_F(CommonBestOf,
       two_machines_is_the_copy_that_serves_both_best_although_neither_has_it_as_its_own) {
    const std::string one = search(machine(kOwn), 1), two = search(machine(kTheirs), 2);
    const Profile merged = best({one, two}).profile;
    EXPECT_TRUE(merged.complete);
    const auto choices = merged.of(ChoiceKind::pipelines);
    ASSERT_EQ(choices.size(), 6u);
    for (const Choice* one : choices) {
        const bool large = one->size > 40000;
        if (one->size <= 1024) continue; // shorter than the prefetch distances
        EXPECT_EQ(name_of(one->copy), large ? kLarge : kCommon) << one->size;
        EXPECT_NEAR(one->plain_ratio(), large ? 1 / 0.6 : 1 / 0.55, 0.02);
        EXPECT_NEAR(one->of_best->mean, large ? 1 : 0.5 / 0.55, 0.02);
        EXPECT_LE(one->of_best->worst, one->of_best->mean);
    }
    for (const Workload intent : {Workload::hot, Workload::cold, Workload::consume}) {
        EXPECT_FALSE(merged.of(ChoiceKind::pipelines, Operation::copy, intent).empty());
    }
    const auto is = [&](ChoiceKind kind) { return name_of(merged.first(kind)->copy); };
    EXPECT_EQ(is(ChoiceKind::small).find("stepped"), 0u);
    EXPECT_EQ(merged.first(ChoiceKind::small)->up_to, 256u);
    EXPECT_EQ(is(ChoiceKind::overlapping), "overlapping XMM 128");
    EXPECT_EQ(is(ChoiceKind::aliased), "overlapping XMM 128");
    EXPECT_EQ(merged.of(ChoiceKind::threads).back()->share().threads, 2u);
}

TEST_F(CommonBestOf, two_machines_has_the_sets_that_serve_both_best) {
    TuningRequest request = made_up_request();
    request.options.operations = {Operation::copy, Operation::set};
    const std::string one = search(factors_of({{"R64 T", 0.5}, {"XMM T TB4", 0.55}}), 1, request),
                      two =
                          search(factors_of({{"XMM T TB8", 0.5}, {"XMM T TB4", 0.55}}), 2, request);
    const CommonBest common = best({one, two});
    const auto sets = common.profile.of(ChoiceKind::pipelines, Operation::set);
    ASSERT_FALSE(sets.empty());
    EXPECT_EQ(name_of(sets.back()->copy), "XMM T TB4");
    EXPECT_LT(sets.back()->of_best->mean, 0.95);
    EXPECT_TRUE(common.profile.first(ChoiceKind::small, Operation::set));
    EXPECT_TRUE(common.profile.complete);
    EXPECT_TRUE(mentions(common.table, "memset\nSize       RT ST"));

    const std::string without = search(machine(kOwn), 3);
    const Profile half = best({one, without}).profile;
    EXPECT_FALSE(half.first(ChoiceKind::pipelines, Operation::set));
    EXPECT_EQ(half.left_out.at(Operation::copy).steps.count(Step::memset), 1u);
    EXPECT_FALSE(half.complete);
}

TEST_F(CommonBestOf, machines_that_agree_is_their_common_winner_boundaries_included) {
    const std::string one = search(machine(kOwn), 1), two = search(machine(kOwn), 2);
    const Profile own = profile_of_log(read_sample_log(one), one);
    const Profile merged = best({one, two}).profile;
    const auto ours = merged.of(ChoiceKind::pipelines), theirs = own.of(ChoiceKind::pipelines);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const Choice &a = *ours[i], &b = *theirs[i];
        EXPECT_EQ(name_of(a.copy), name_of(b.copy));
        EXPECT_EQ(a.up_to, b.up_to) << i;
        EXPECT_GT(a.of_best->worst, 0.99);
        EXPECT_FALSE(a.sensing) << "one pipeline is the best of cached and of uncached data";
    }
}

TEST_F(CommonBestOf, machines_whose_winners_change_places_twice_has_a_boundary_for_each_place) {
    TuningRequest request = made_up_request();
    request.options.sensing = false;
    request.options.of(Operation::copy).sizes = {2048, 8192, 32768, 131072};
    const auto factor = [](const std::string& name, std::size_t size, Workload) {
        const bool one = size < 3000 || (size >= 12000 && size < 50000);
        return name == (one ? kOwn : kTheirs) ? 0.5 : 0.0;
    };
    const std::string one = search(factor, 1, request), two = search(factor, 2, request);
    const Profile own = profile_of_log(read_sample_log(one), one);
    const Profile merged = best({one, two}).profile;
    const auto ours = merged.of(ChoiceKind::pipelines), theirs = own.of(ChoiceKind::pipelines);
    ASSERT_EQ(ours.size(), 4u);
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i]->up_to, theirs[i]->up_to);
    EXPECT_GT(ours[2]->up_to, 40000u);
}

TEST_F(CommonBestOf, the_same_inputs_in_any_order_is_the_same) {
    const std::string a = search(machine(kOwn), 1), b = search(machine(kTheirs), 2),
                      c = search(machine(kOwn), 3);
    const std::string expected = text_of(best({a, b, c}).profile);
    EXPECT_EQ(text_of(best({c, b, a}).profile), expected);
    EXPECT_EQ(text_of(best({b, a, c}).profile), expected);
}

/// A copy that loses an eighth on one machine and gains a quarter on the other, and a copy that
/// gains a tenth on both.
TEST_F(CommonBestOf, machines_is_no_copy_that_loses_much_on_one_of_them) {
    const Profile merged = best({search(factors_of({{kOwn, 0.8}, {kCommon, 0.9}}), 1),
                                 search(factors_of({{kOwn, 1.15}, {kCommon, 0.9}}), 2)})
                               .profile;
    for (const Choice* one : merged.of(ChoiceKind::pipelines)) {
        if (one->size <= 1024) continue;
        EXPECT_EQ(name_of(one->copy), kCommon) << one->size;
    }
}

TEST_F(CommonBestOf, machines_stores_past_no_cache_without_a_probe_that_holds_a_destination) {
    TuningRequest request = made_up_request();
    request.options.sensing = false;
    const auto search_with = [&](double hot, std::uint64_t noise) {
        const auto factor = [=](const std::string& name, std::size_t size, Workload workload) {
            const double large = workload == Workload::hot ? hot : 0.4;
            return factors_of({{kLarge, large}, {kCommon, 0.9}})(name, size, workload);
        };
        return search(factor, noise, request);
    };
    const auto winner = [&](double hot, double on_the_other) {
        const Profile merged = best({search_with(hot, 1), search_with(on_the_other, 2)}).profile;
        return merged.choices.at(3).copy;
    };
    EXPECT_EQ(name_of(winner(1.02, 1.02)), kLarge);
    EXPECT_EQ(name_of(winner(1.02, 1.12)), kCommon) << "on one of them it loses";
    EXPECT_EQ(name_of(winner(1.12, 1.12)), kCommon);
}

TEST_F(CommonBestOf, unlike_searches_names_them_and_their_common_facts_and_leaves_out_other_sizes) {
    TuningRequest request = made_up_request();
    request.seed = 5;
    request.options.rigor = "standard";
    request.options.of(Operation::copy).sizes = {128, 16384};
    const Profile merged =
        best({search(machine(kOwn), 1), search(machine(kOwn), 2, request)}).profile;
    EXPECT_FALSE(merged.complete);
    for (const std::size_t size : merged.sizes()) EXPECT_TRUE(size == 128 || size == 16384);
    EXPECT_FALSE(merged.left_out.at(Operation::copy).sizes.empty());
    const json written = to_json(merged), &sources = written.at("merged").at("sources");
    ASSERT_EQ(sources.size(), 2u);
    EXPECT_EQ(written.at("merged").at("from"), "machines");
    EXPECT_EQ(sources[0].at("machine"), written.at("machine"));
    EXPECT_NE(sources[0].at("name"), sources[1].at("name"));
    EXPECT_FALSE(written.at("search").contains("seed")); // they had different ones
    EXPECT_EQ(written.at("search").at("seconds"), 120);
    EXPECT_EQ(written.at("search").at("rigor"), "quick") << "the least of both";
}

TEST_F(CommonBestOf, inputs_other_than_logs_of_separate_searches_for_the_same_are_refused) {
    TuningRequest request = short_request();
    const std::string one = search(machine(kOwn), 1, request),
                      two = search(machine(kOwn), 2, request);
    put("profile", text_of(profile_of_log(read_sample_log(two), two)));
    EXPECT_TRUE(mentions(refusal({one, (folder / "profile").string()}), "needs their logs"));
    EXPECT_TRUE(mentions(refusal({one, two, one}), "one and the same search"));
    request.seed = 9;
    request.options.of(Operation::copy).references = {{"other", "0"}}; // whose copies are left out
    const std::string three = search(machine(kOwn), 2, request);
    EXPECT_TRUE(best({three, search(machine(kOwn), 3, request)}).profile.search.references.empty());
    EXPECT_EQ(refusal({one, three}), "accepted");
    request.options.of(Operation::copy).references.clear();
    for (const char* workload : {"hot", "hot=1,cold=2"}) {
        request.options.workload = workload;
        EXPECT_TRUE(mentions(refusal({one, search(machine(kOwn), 2, request)}), "workload"));
    }
}

TEST_F(CommonBestOf, different_types_of_machines_is_refused_and_the_difference_named) {
    const std::string one = search(machine(kOwn), 1, short_request()),
                      two = search(machine(kOwn), 2, short_request());
    const std::string rest = content(two).substr(content(two).find('\n'));
    auto header = nlohmann::ordered_json::parse(content(two).substr(0, content(two).find('\n')));
    const std::pair<void (*)(Machine&), const char*> cases[] = {
        {[](Machine& m) { m.cpu.stepping = 3; }, "cpu.stepping: "},
        {[](Machine& m) { m.cpus = 64; }, "(cpus: "},
        {[](Machine& m) { m.cpu.features = {"pni"}; }, "cpu.features: pni only on"},
        {[](Machine& m) { m.memory_bytes *= 2; }, "memory: "},
        {[](Machine& m) { m.memory_bytes -= m.memory_bytes / 40; }, "accepted"},
        {[](Machine& m) { m.kernel = "Linux 7"; }, "accepted"}};
    for (const auto& [change, said] : cases) {
        Machine changed = made_up_machine();
        change(changed);
        header["machine"] = to_json(changed);
        put("changed", header.dump() + rest);
        EXPECT_TRUE(mentions(refusal({one, (folder / "changed").string()}), said));
    }
    header["memory_nodes"] = "interleaved over nodes 0 and 1";
    put("changed", header.dump() + rest);
    EXPECT_TRUE(mentions(refusal({one, (folder / "changed").string()}), "another --interleave"));
}
