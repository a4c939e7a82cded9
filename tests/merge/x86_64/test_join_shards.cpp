// The shards of a search, joined, are what the whole search finds.
#include "merge/join_shards.hpp"

#include "base/error.hpp"
#include "merge/merge.hpp"
#include "run/tuning.hpp"
#include "support/made_up_search.hpp"
#include "support/mentions.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// Three copies share the sizes; where the boundaries are depends on the workload.
double three_winners(const std::string& name, std::size_t size, Workload workload) {
    const std::size_t first = workload == Workload::hot ? 3000 : 700, second = 40000;
    if (name == "XMM T T T0 8 4") return size <= first ? 0.5 : 0.8;
    if (name == "R64 T T T1 8 16") return size <= first ? 0.8 : size <= second ? 0.5 : 0.8;
    if (name == "XMM T NT NTA 8 4") return size <= second ? 0.9 : 0.6;
    if (name == "grouped XMM up 256") return 0.7;
    if (name == "backward XMM") return size < 20000 ? 0.2 : 2;
    if (name == "threads 2 even") return size < 1000000 ? 0.9 : 0.4;
    return 0;
}

class JoinShards : public TemporaryFolder {
  protected:
    /// The log of a shard, or of the whole search: "".
    std::string search(const std::string& shard, std::uint64_t noise = 1) {
        return search(shard, noise, made_up_request(), made_up_machine());
    }
    std::string search(const std::string& shard, std::uint64_t noise, TuningRequest request,
                       const Machine& machine) {
        request.shard = shard;
        const auto path = folder / ("log " + std::to_string(count_++));
        made_up_search(path, request, "three", made_up_truth(three_winners), noise, machine);
        return path.string();
    }

    std::vector<std::string> shards(unsigned count) {
        std::vector<std::string> logs;
        for (unsigned index = 1; index <= count; ++index) {
            logs.push_back(search(Shard{index, count}.name(), index));
        }
        return logs;
    }

    std::string profile_of(const std::string& log) {
        put("profile " + std::to_string(count_), profile_of_log(log).dump(2) + '\n');
        return (folder / ("profile " + std::to_string(count_++))).string();
    }

    static std::vector<MergeSource> read(const std::vector<std::string>& paths) {
        std::vector<MergeSource> sources;
        for (const std::string& path : paths) sources.push_back(read_merge_source(path));
        return sources;
    }
    static json join(const std::vector<std::string>& paths) {
        return to_json(join_shards(read(paths)));
    }

    static std::string refusal(const std::vector<std::string>& paths) {
        try {
            join(paths);
        } catch (const BadInput& error) {
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
            return error.what();
        }
        return "accepted";
    }

    int count_ = 0;
};

/// Who wins where. Of the rows only the sizes: each shard chooses its own, from fewer sizes.
json winners(const json& profile) {
    json winners;
    for (const json& one : profile.at("intervals")) winners["sizes"].push_back(one.at("size"));
    winners["small"] = profile.at("small").at("winner").at("tuple");
    winners["overlapping"] = profile.at("overlapping").at("winner").at("tuple");
    winners["aliased"] = profile.at("aliased").value("winner", json());
    winners["threads"] = profile.at("threads").at("intervals");
    return winners;
}

} // namespace

TEST_F(JoinShards, gives_what_the_whole_search_gives_however_many_there_are) {
    const json whole = profile_of_log(search(""));
    const json expected = winners(whole);
    EXPECT_FALSE(expected.at("aliased").is_null());
    for (const unsigned count : {1u, 2u, 3u, 6u}) {
        const json joined = join(shards(count));
        EXPECT_EQ(winners(joined), expected) << count;
        std::set<json> pipelines;
        for (const json& one : joined.at("intervals")) {
            pipelines.insert(one.at("winner").at("tuple"));
        }
        EXPECT_LE(pipelines.size(), 6 * count);
        EXPECT_EQ(joined.at("intervals").back().at("winner").at("tuple").at("pt"), "NTA");
        EXPECT_EQ(joined.at("complete"), true);
        EXPECT_FALSE(joined.contains("left_out"));
        EXPECT_FALSE(joined.contains("shard"));
        EXPECT_EQ(joined.at("merged").at("from"), "shards");
        ASSERT_EQ(joined.at("merged").at("sources").size(), count);
        EXPECT_EQ(joined.at("merged").at("sources").back().at("shard"), count);
        EXPECT_EQ(joined.at("aliased").at("sizes").size(), whole.at("aliased").at("sizes").size());
        EXPECT_EQ(joined.at("threads").at("results").size(), 1u);
    }
}

TEST_F(JoinShards, takes_the_sets_of_the_first) {
    TuningRequest request = made_up_request();
    request.operations = "memcpy,memset";
    std::vector<std::string> logs;
    for (const char* shard : {"1/2", "2/2"}) {
        request.shard = shard;
        logs.push_back((folder / ("sets " + std::string(shard, 1))).string());
        run_made_up_search(logs.back(), request, made_up_truth([](const auto& name, auto, auto) {
                               return name == "XMM T TB4" ? 0.5 : 0.0;
                           }));
    }
    EXPECT_FALSE(profile_of_log(logs[1]).contains("memset"));
    const json joined = join({logs[1], logs[0]});
    EXPECT_EQ(joined.at("memset"), json(profile_of_log(logs[0]).at("memset")));
    EXPECT_EQ(joined.at("memset").at("intervals").back().at("winner").at("tuple").at("tb"), 4);
    EXPECT_EQ(joined.at("complete"), true);
}

TEST_F(JoinShards, finds_the_boundary_where_two_shards_meet) {
    // Where buffers are cached, the second copy takes over from the first at 3000 bytes.
    const json joined = join(shards(6));
    for (const json& interval : joined.at("intents").at("hot").at("intervals")) {
        if (interval.at("size") != 1024) continue;
        EXPECT_GT(interval.at("up_to"), 2400);
        EXPECT_LE(interval.at("up_to"), 3000);
    }
}

TEST_F(JoinShards, gives_the_same_for_any_order_and_for_logs_and_profiles) {
    const std::vector<std::string> logs = shards(3);
    const ordered_json expected = to_json(join_shards(read(logs)));
    EXPECT_EQ(to_json(join_shards(read({logs[2], logs[0], logs[1]}))), expected);
    ordered_json mixed =
        to_json(join_shards(read({profile_of(logs[1]), logs[0], profile_of(logs[2])})));
    ordered_json named = expected;
    for (ordered_json* one : {&mixed, &named}) {
        for (ordered_json& source : one->at("merged").at("sources")) source.erase("name");
    }
    EXPECT_EQ(mixed, named);
}

TEST_F(JoinShards, of_one_is_the_whole_search_itself) {
    json whole = profile_of_log(search("")), joined = join({search("1/1")});
    joined.erase("merged");
    EXPECT_EQ(joined, whole);
}

TEST_F(JoinShards, adds_up_what_they_cost) {
    const std::vector<std::string> logs = shards(2);
    std::size_t trials = 0;
    for (const std::string& log : logs) {
        trials += profile_of_log(log).at("search").at("trials").get<std::size_t>();
    }
    const json search = join(logs).at("search");
    EXPECT_EQ(search.at("trials"), trials);
    EXPECT_EQ(search.at("seconds"), 120);
    EXPECT_EQ(search.at("phases").at("screening"), 100);
}

TEST_F(JoinShards, makes_a_shard_incomplete_by_itself_and_tells_what_it_is) {
    const json first = profile_of_log(search("1/2")), second = profile_of_log(search("2/2"));
    EXPECT_EQ(first.at("complete"), false);
    EXPECT_EQ(second.at("complete"), false);
    EXPECT_EQ(second.at("shard").at("index"), 2);
    EXPECT_EQ(second.at("shard").at("count"), 2);
    EXPECT_EQ(second.at("shard").at("search"), first.at("shard").at("search"));
    std::vector<std::size_t> all = first.at("shard").at("sizes");
    for (const std::size_t size : second.at("shard").at("sizes")) all.push_back(size);
    EXPECT_EQ(all, first.at("shard").at("all_sizes").get<std::vector<std::size_t>>());
    for (const char* race : {"small", "overlapping"}) {
        EXPECT_TRUE(first.contains(race));
        EXPECT_FALSE(second.contains(race));
    }
    for (const json& result : second.at("aliased").at("sizes")) {
        EXPECT_GE(result.at("size"), second.at("shard").at("sizes").front());
    }
}

TEST_F(JoinShards, names_the_shards_that_are_missing) {
    const std::vector<std::string> logs = shards(4);
    EXPECT_TRUE(mentions(refusal({logs[0], logs[2], logs[3]}), "missing: 2/4: give"));
    EXPECT_TRUE(mentions(refusal({logs[1]}), "missing: 1/4, 3/4, 4/4"));
}

TEST_F(JoinShards, refuses_one_shard_twice) {
    const std::vector<std::string> logs = shards(2);
    const std::string again = search("2/2", 7);
    EXPECT_TRUE(mentions(refusal({logs[0], logs[1], again}), "both are shard 2/2"));
    EXPECT_TRUE(mentions(refusal({logs[0], logs[1], profile_of(logs[1])}), "both are shard 2/2"));
}

TEST_F(JoinShards, refuses_shards_of_different_searches) {
    const std::string first = search("1/2");
    const auto other = [&](const std::function<void(TuningRequest&)>& change) {
        TuningRequest request = made_up_request();
        change(request);
        return refusal({first, search("2/2", 2, request, made_up_machine())});
    };
    EXPECT_TRUE(mentions(other([](auto& request) { request.seed = 2; }), "another --seed"));
    EXPECT_TRUE(mentions(other([](auto& request) { request.rigor = "standard"; }), "--rigor"));
    EXPECT_TRUE(mentions(other([](auto& request) { request.sizes = "128,1K,1M"; }), "--sizes"));
    EXPECT_TRUE(mentions(other([](auto& request) { request.threads = 1; }), "--threads"));
    EXPECT_TRUE(mentions(other([](auto& request) { request.workload = "hot"; }), "cannot join"));
    EXPECT_TRUE(mentions(refusal({first, search("2/3"), search("3/3")}), "2 and 3 shards"));
}

TEST_F(JoinShards, refuses_shards_of_different_types_of_machines) {
    Machine other = made_up_machine();
    other.cpu.model = 2;
    const std::string error = refusal({search("1/2"), search("2/2", 2, made_up_request(), other)});
    EXPECT_TRUE(mentions(error, "cpu.model: 1 and 2")) << error;
}

TEST_F(JoinShards, whose_time_was_up_leave_out_in_the_whole_what_they_left_out) {
    const std::vector<std::string> logs = shards(2);
    std::vector<MergeSource> sources = read(logs);
    Profile& first = sources[0].profile;
    const std::vector<std::size_t> own = first.shard->own;
    ASSERT_GT(own.size(), 1u);
    first.left_out.sizes.push_back(own.back());
    first.left_out.steps.insert(Step::boundaries);
    first.intervals.pop_back();
    for (auto& [workload, intent] : first.intents) intent.intervals.pop_back();
    const json joined = to_json(join_shards(sources));
    EXPECT_EQ(joined.at("complete"), false);
    EXPECT_EQ(joined.at("left_out"), (json{{"sizes", {own.back()}}, {"steps", {"boundaries"}}}));
    std::size_t above = 0;
    for (const json& interval : joined.at("intervals")) {
        EXPECT_EQ(interval.at("above"), above);
        EXPECT_GT(interval.at("size"), above);
        EXPECT_LE(interval.at("size"), interval.at("up_to"));
        above = interval.at("up_to");
    }
}

TEST_F(JoinShards, refuses_what_somebody_edited) {
    const std::vector<std::string> logs = shards(2);
    const auto edited = [&](const std::function<void(json&)>& edit) {
        json profile = profile_of_log(logs[1]);
        edit(profile);
        put("edited", profile.dump());
        try {
            merge({{logs[0], (folder / "edited").string()}, (folder / "out").string(), true});
        } catch (const BadInput& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_TRUE(mentions(edited([](json& one) { one["shard"]["index"] = 3; }), "no shard 3/2"));
    EXPECT_TRUE(mentions(edited([](json& one) { one["shard"]["sizes"].erase(0); }), "add up"));
    for (const char* field : {"index", "count", "sizes", "search", "all_sizes"}) {
        const std::string error = edited([&](json& one) { one["shard"][field] = nullptr; });
        EXPECT_NE(error, "accepted") << field;
        EXPECT_EQ(error.find('\n'), std::string::npos);
    }
    EXPECT_NE(edited([](json& one) { one["shard"] = 1; }), "accepted");
    EXPECT_NE(edited([](json& one) { one["aliased"] = 1; }), "accepted");
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}
