// Joins the shards of one search to the profile that the whole of it would have given.
#include "merge/join_shards.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "search/aliased_search.hpp"
#include "search/overlapping_search.hpp"
#include "search/shard.hpp"
#include "search/threads_search.hpp"

namespace asterope {

namespace {

using nlohmann::ordered_json;
using Sizes = std::vector<std::size_t>;

Shard shard_of(const MergeSource& source) {
    const ordered_json& shard = source.profile.at("shard");
    return {shard.at("index").get<unsigned>(), shard.at("count").get<unsigned>()};
}

Sizes own_sizes(const MergeSource& source) {
    return source.profile.at("shard").at("sizes").get<Sizes>();
}

void require_one_search(const std::vector<MergeSource>& shards) {
    const MergeSource& first = shards.front();
    const auto parts = [](const MergeSource& one, const char* name) {
        return one.profile.at("shard").at(name);
    };
    for (const MergeSource& one : shards) {
        const auto refuse = [&](const std::string& why) {
            return BadInput("cannot join " + first.path + " and " + one.path + ": " + why);
        };
        // First, as other machines have other options by default.
        const std::string type =
            type_difference(first.profile.at("machine"), one.profile.at("machine"));
        if (!type.empty()) throw refuse("they are of different types of machines (" + type + ')');
        if (shard_of(one).count != shard_of(first).count) {
            throw refuse("they are of " + std::to_string(shard_of(first).count) + " and " +
                         std::to_string(shard_of(one).count) + " shards");
        }
        if (parts(one, "all_sizes") != parts(first, "all_sizes")) {
            throw refuse("they are shards of other --sizes");
        }
        for (const char* name : {"rigor", "space", "seed", "without", "source_map"}) {
            const ordered_json &a = first.profile.at("search"), &b = one.profile.at("search");
            if (a.value(name, ordered_json()) == b.value(name, ordered_json())) continue;
            throw refuse(std::string("they were searched with another --") + name);
        }
        if (parts(one, "search") != parts(first, "search")) {
            throw refuse("they were searched with other options (--threads, whose default are the "
                         "CPUs allowed, --small, --distribution, --no-sensing)");
        }
        if (one.profile.at("search").at("invalid") != first.profile.at("search").at("invalid")) {
            throw refuse("other candidates copy wrongly there: one of the machines is faulty, or "
                         "they are of different types");
        }
    }
}

/// All there, none twice, and all sizes among them.
void require_all(const std::vector<MergeSource>& shards) {
    const unsigned count = shard_of(shards.front()).count;
    std::map<unsigned, const MergeSource*> by_index;
    for (const MergeSource& one : shards) {
        const Shard shard = shard_of(one);
        if (shard.index < 1 || shard.index > count) {
            throw BadInput("profile " + one.path + ": there is no shard " + shard.name());
        }
        const auto [before, fresh] = by_index.emplace(shard.index, &one);
        if (!fresh) {
            throw BadInput("cannot join " + before->second->path + " and " + one.path +
                           ": both are shard " + shard.name());
        }
    }
    std::string missing;
    for (unsigned index = 1, named = 0; index <= count; ++index) {
        if (by_index.count(index)) continue;
        if (++named == 5) {
            missing += ", ...";
            break;
        }
        missing += (missing.empty() ? "" : ", ") + Shard{index, count}.name();
    }
    if (!missing.empty()) {
        throw BadInput("shards are missing: " + missing +
                       ": give the profiles or the logs of all " + std::to_string(count));
    }
    Sizes sizes;
    for (const MergeSource& one : shards) {
        for (const std::size_t size : own_sizes(one)) sizes.push_back(size);
    }
    if (sizes != shards.front().profile.at("shard").at("all_sizes").get<Sizes>()) {
        throw BadInput("the shards of " + shards.front().path +
                       " do not add up to its sizes: they were edited, or made by other versions");
    }
}

/// The intervals of one objective, which `of(profile)` gives: those of own sizes. An interval
/// begins where its own shard found that it does: at the border, or where the next size below did
/// not get its turn, at a boundary further below.
template <class Of> ordered_json join_intervals(const std::vector<MergeSource>& shards, Of of) {
    ordered_json joined = ordered_json::array();
    for (const MergeSource& one : shards) {
        const Sizes own = own_sizes(one);
        for (const ordered_json& interval : of(one.profile)) {
            const auto size = interval.at("size").get<std::size_t>();
            if (!std::binary_search(own.begin(), own.end(), size)) continue;
            ordered_json next = interval;
            if (joined.empty()) {
                next["above"] = 0;
            } else {
                // Without its border a shard's first interval begins at 0: then, as the paper's do,
                // it begins at the size below.
                ordered_json& before = joined.back();
                const std::size_t meet = std::max(next.at("above").get<std::size_t>(),
                                                  before.at("size").get<std::size_t>());
                before["up_to"] = next["above"] = meet;
            }
            joined.push_back(std::move(next));
        }
    }
    return joined;
}

ordered_json join_aliased(const std::vector<MergeSource>& shards) {
    ordered_json sizes = ordered_json::array(), space;
    std::vector<AliasedSize> measured;
    for (const MergeSource& one : shards) {
        for (const ordered_json& size : one.profile.at("aliased").at("sizes")) {
            AliasedSize found{size.at("size"), {}, {}, 0, {}};
            ordered_json tuples = ordered_json::array();
            for (const ordered_json& gain : size.at("gains")) {
                tuples.push_back(gain.at("tuple"));
                found.gains.push_back(gain.at("gain"));
            }
            if (sizes.empty()) space = tuples;
            if (tuples != space) {
                throw BadInput("profile " + one.path +
                               ": other copies for aliasing buffers were timed than in the other "
                               "shards");
            }
            measured.push_back(std::move(found));
            sizes.push_back(size);
        }
    }
    ordered_json aliased = ordered_json::object();
    if (const auto choice = choose_aliased(measured)) {
        aliased["winner"] = {{"above", choice->above},
                             {"up_to", choice->up_to},
                             {"tuple", space.at(choice->variant)}};
    }
    aliased["sizes"] = sizes;
    return aliased;
}

/// Null where no shard timed any.
ordered_json join_threads(const std::vector<MergeSource>& shards) {
    ordered_json results = ordered_json::array(), intervals = ordered_json::array(), most;
    std::vector<SharedSize> sizes;
    for (const MergeSource& one : shards) {
        if (!one.profile.contains("threads")) continue;
        const ordered_json& threads = one.profile.at("threads");
        most = threads.at("most");
        for (const ordered_json& result : threads.at("results")) {
            sizes.push_back({result.at("size"),
                             {result.at("threads"), result.at("chunk")},
                             result.at("taken"),
                             result.at("ratio"),
                             {},
                             {},
                             0});
            results.push_back(result);
        }
    }
    if (results.empty()) return nullptr;
    for (const auto& [above, up_to, share] : share_intervals(sizes)) {
        intervals.push_back({{"above", above},
                             {"up_to", up_to},
                             {"threads", share.threads},
                             {"chunk", share.chunk}});
    }
    return {{"most", most}, {"intervals", intervals}, {"results", results}};
}

} // namespace

ordered_json join_shards(std::vector<MergeSource> shards) {
    std::sort(shards.begin(), shards.end(), [](const MergeSource& a, const MergeSource& b) {
        return std::pair(shard_of(a).index, a.content()) <
               std::pair(shard_of(b).index, b.content());
    });
    require_one_search(shards);
    require_all(shards);
    require_alike(shards);
    const ordered_json& first = shards.front().profile;

    const auto intervals = [](const ordered_json& profile) { return profile.at("intervals"); };
    const ordered_json joined = join_intervals(shards, intervals);
    Sizes left_out = first.at("shard").at("all_sizes").get<Sizes>();
    for (const ordered_json& interval : joined) {
        std::erase(left_out, interval.at("size").get<std::size_t>());
    }
    const auto having = [&](const char* race) {
        return std::find_if(shards.begin(), shards.end(),
                            [race](const MergeSource& one) { return one.profile.contains(race); });
    };
    const auto small = having("small"), overlapping = having("overlapping");
    std::set<std::string> missed = left_out_steps(shards);
    if (small != shards.end()) missed.erase("small copies"); // each but one leaves them out
    if (overlapping != shards.end()) missed.erase(kOverlappingStep);
    const std::vector<std::string> steps = in_order(missed);

    ordered_json profile;
    for (const char* name : {"format", "version", "architecture"}) profile[name] = first.at(name);
    profile["complete"] = left_out.empty() && steps.empty();
    profile["machine"] = first.at("machine");
    profile["search"] = merged_search(shards);
    if (!profile["complete"]) profile["left_out"] = {{"sizes", left_out}, {"steps", steps}};
    profile["merged"] = merged_from("shards", shards);
    if (small != shards.end()) profile["small"] = small->profile.at("small");
    if (overlapping != shards.end()) {
        profile["overlapping"] = overlapping->profile.at("overlapping");
    }
    profile["aliased"] = join_aliased(shards);
    if (const ordered_json threads = join_threads(shards); !threads.is_null()) {
        profile["threads"] = threads;
    }
    profile["intervals"] = joined;
    if (first.contains("intents")) {
        for (const auto& [name, unused] : first.at("intents").items()) {
            const std::string intent = name;
            profile["intents"][intent]["intervals"] =
                join_intervals(shards, [&](const ordered_json& one) {
                    return one.at("intents").at(intent).at("intervals");
                });
        }
    }
    return profile;
}

} // namespace asterope
