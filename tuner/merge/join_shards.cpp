// Joins the shards of one search to the profile that the whole of it would have given.
#include "merge/join_shards.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "search/aliased_search.hpp"
#include "search/overlapping_search.hpp"
#include "search/shard.hpp"
#include "search/step.hpp"
#include "search/threads_search.hpp"

namespace asterope {

namespace {

using Sizes = std::vector<std::size_t>;
using Shards = std::vector<MergeSource>;

const ShardFacts& shard_of(const MergeSource& source) {
    return *source.profile.shard;
}

/// The first option that the searches of two shards differ in, as in "--seed"; empty: none.
std::string other_option(const SearchFacts& a, const SearchFacts& b) {
    const std::pair<bool, const char*> options[] = {{a.rigor == b.rigor, "rigor"},
                                                    {a.space == b.space, "space"},
                                                    {a.seed == b.seed, "seed"},
                                                    {a.without == b.without, "without"},
                                                    {a.source_map == b.source_map, "source_map"}};
    for (const auto& [same, name] : options) {
        if (!same) return std::string("--") + name;
    }
    return {};
}

void require_one_search(const Shards& shards) {
    const MergeSource& first = shards.front();
    for (const MergeSource& one : shards) {
        const auto refuse = [&](const std::string& why) {
            return BadInput("cannot join " + first.path + " and " + one.path + ": " + why);
        };
        // First, as other machines have other options by default.
        const std::string type = type_difference(first.profile.machine, one.profile.machine);
        if (!type.empty()) throw refuse("they are of different types of machines (" + type + ')');
        const ShardFacts &a = shard_of(first), &b = shard_of(one);
        if (b.shard.count != a.shard.count) {
            throw refuse("they are of " + std::to_string(a.shard.count) + " and " +
                         std::to_string(b.shard.count) + " shards");
        }
        if (b.all != a.all) throw refuse("they are shards of other --sizes");
        const std::string option = other_option(first.profile.search, one.profile.search);
        if (!option.empty()) throw refuse("they were searched with another " + option);
        if (b.search != a.search) {
            throw refuse("they were searched with other options (--threads, whose default are the "
                         "CPUs allowed, --small, --distribution, --no-sensing)");
        }
        if (one.profile.search.invalid != first.profile.search.invalid) {
            throw refuse("other candidates copy wrongly there: one of the machines is faulty, or "
                         "they are of different types");
        }
    }
}

/// All there, none twice, and all sizes among them.
void require_all(const Shards& shards) {
    const unsigned count = shard_of(shards.front()).shard.count;
    std::map<unsigned, const MergeSource*> by_index;
    for (const MergeSource& one : shards) {
        const Shard shard = shard_of(one).shard;
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
        sizes.insert(sizes.end(), shard_of(one).own.begin(), shard_of(one).own.end());
    }
    if (sizes != shard_of(shards.front()).all) {
        throw BadInput("the shards of " + shards.front().path +
                       " do not add up to its sizes: they were edited, or made by other versions");
    }
}

/// The intervals of one objective, which `of(profile)` gives: those of own sizes. An interval
/// begins where its own shard found that it does: at the border, or where the next size below did
/// not get its turn, at a boundary further below.
template <class Of> std::vector<Interval> join_intervals(const Shards& shards, Of of) {
    std::vector<Interval> joined;
    for (const MergeSource& one : shards) {
        const Sizes& own = shard_of(one).own;
        for (const Interval& interval : of(one.profile)) {
            if (!std::binary_search(own.begin(), own.end(), interval.size)) continue;
            Interval next = interval;
            if (joined.empty()) {
                next.above = 0;
            } else {
                // Without its border a shard's first interval begins at 0: then, as the paper's do,
                // it begins at the size below.
                Interval& before = joined.back();
                before.up_to = next.above = std::max(next.above, before.size);
            }
            joined.push_back(std::move(next));
        }
    }
    return joined;
}

AliasedOutcome join_aliased(const Shards& shards) {
    AliasedOutcome joined;
    std::vector<AliasedSize> measured;
    const auto copies = [](const AliasedOutcome::Size& size) {
        std::vector<AliasedOutcome::Copy> copies;
        for (const auto& [copy, gain] : size.gains) copies.push_back(copy);
        return copies;
    };
    for (const MergeSource& one : shards) {
        if (!one.profile.aliased) continue;
        for (const AliasedOutcome::Size& size : one.profile.aliased->sizes) {
            joined.sizes.push_back(size);
            if (copies(size) != copies(joined.sizes.front())) {
                throw BadInput("profile " + one.path +
                               ": other copies for aliasing buffers were timed than in the other "
                               "shards");
            }
            AliasedSize& found = measured.emplace_back();
            found.size = size.size;
            found.undecided = size.undecided;
            for (const auto& [copy, gain] : size.gains) found.gains.push_back(gain);
        }
    }
    if (const auto choice = choose_aliased(measured)) {
        joined.winner = {choice->above, choice->up_to,
                         copies(joined.sizes.front())[choice->variant]};
    }
    return joined;
}

/// None where no shard timed any.
std::optional<ThreadsOutcome> join_threads(const Shards& shards) {
    ThreadsOutcome joined;
    std::vector<SharedSize> sizes;
    for (const MergeSource& one : shards) {
        if (!one.profile.threads) continue;
        joined.most = one.profile.threads->most;
        for (const SharedOutcome& result : one.profile.threads->results) {
            joined.results.push_back(result);
            sizes.push_back({result.size, result.share, result.taken, result.ratio, {}, {}, 0});
        }
    }
    if (sizes.empty()) return std::nullopt;
    joined.intervals = share_intervals(sizes);
    return joined;
}

/// What one shard alone looked for, such as the one that had the size small copies hand over to;
/// none where it left that out. `part` is the profile's member.
template <class Part> Part of_any(const Shards& shards, Part Profile::*part) {
    for (const MergeSource& one : shards) {
        if (one.profile.*part) return one.profile.*part;
    }
    return std::nullopt;
}

} // namespace

Profile join_shards(Shards shards) {
    std::sort(shards.begin(), shards.end(), [](const MergeSource& a, const MergeSource& b) {
        return std::pair(shard_of(a).shard.index, a.content()) <
               std::pair(shard_of(b).shard.index, b.content());
    });
    require_one_search(shards);
    require_all(shards);
    require_alike(shards);
    const Profile& first = shards.front().profile;

    Profile joined;
    joined.machine = first.machine;
    joined.search = merged_search(shards);
    joined.merged = merged_from("shards", shards);
    joined.small = of_any(shards, &Profile::small);
    joined.overlapping = of_any(shards, &Profile::overlapping);
    joined.memset = of_any(shards, &Profile::memset);
    joined.aliased = join_aliased(shards);
    joined.threads = join_threads(shards);
    joined.intervals = join_intervals(
        shards, [](const Profile& one) -> const auto& { return one.intervals; });
    for (const auto& [workload, unused] : first.intents) {
        joined.intents[workload].intervals = join_intervals(
            shards, [key = workload](const Profile& one) -> const auto& {
                static const std::vector<Interval> none;
                const auto intent = one.intents.find(key);
                return intent == one.intents.end() ? none : intent->second.intervals;
            });
    }

    Sizes sizes = first.shard->all;
    for (const Interval& interval : joined.intervals) std::erase(sizes, interval.size);
    std::set<Step> steps = left_out_steps(shards);
    if (joined.small) steps.erase(Step::small); // each but one leaves them out
    if (joined.overlapping) steps.erase(Step::overlapping);
    joined.left_out = {sizes, steps};
    joined.complete = joined.has_all();
    return joined;
}

} // namespace asterope
