// Compares two values of worth: that of the existing profile and that of the planned search.
#include "profile/existing_profile.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"
#include "machine/machine.hpp"
#include "profile/profile.hpp"
#include "search/search.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// The profile at `place`; empty where it is missing, or not worth keeping.
std::optional<Profile> existing_profile(const std::filesystem::path& place) {
    std::error_code error;
    const auto type = std::filesystem::status(place, error).type();
    // A pipe or a terminal cannot be a profile either, and to read one might take for ever.
    if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::none) {
        return std::nullopt;
    }
    const std::string fresh = "; --fresh replaces it without looking, -o writes elsewhere";
    std::string text;
    try {
        text = read_text_file(place, "cannot look whether " + place.string() + " is worth more");
    } catch (const BadInput& unreadable) {
        throw BadInput(unreadable.what() + fresh);
    }
    try {
        return parse_profile(text, "");
    } catch (const NewerProfile&) {
        throw BadInput(place.string() + " was made by a newer asterope" + fresh);
    } catch (const BadInput&) {
        return std::nullopt;
    }
}

/// The rank of a rigor, rising; -1 for an unknown word.
int rank_of(const std::string& rigor) {
    const auto found = std::ranges::find(kRigors, rigor);
    return found == std::end(kRigors) ? -1 : static_cast<int>(found - std::begin(kRigors));
}

/// Profiles have six digits of each weight.
bool same_weights(const std::map<Operation, Weights>& all, const Weights& wanted) {
    const Weights recorded = value_in(all, Operation::copy);
    return recorded.size() == wanted.size() && std::ranges::all_of(recorded, [&](const auto& one) {
               return std::abs(weight_of(wanted, one.first) - one.second) < 1e-5;
           });
}

template <class T> std::set<T> set_of(const std::vector<T>& list) {
    return {list.begin(), list.end()};
}

bool same_purpose(const SearchFacts& search, const SearchOptions& options) {
    const bool same_small =
        search.distribution.empty() || search.distribution == profile_name(options.distribution);
    return same_small && same_weights(search.weights, options.weights) &&
           search.source_map == profile_name(options.source_map) &&
           search.is_interleaved() == options.interleave &&
           set_of(search.without) == set_of(options.without);
}

/// The profile at `place`, if it is one of this machine for the same purpose.
std::optional<Profile> comparable_profile(const std::filesystem::path& place, const json& machine,
                                          const SearchOptions& options) {
    std::optional<Profile> profile = existing_profile(place);
    if (!profile || !same_purpose(profile->search, options)) return std::nullopt;
    const std::vector<Part> parts = compare_machines(*profile, machine);
    if (contains(parts, PartState::decides, &Part::state)) return std::nullopt;
    return profile;
}

Standing standing_of(const Profile& profile, Operation operation) {
    Standing standing;
    for (const Choice* one : profile.of(ChoiceKind::pipelines, operation)) {
        Standing::Row& row = standing.rows.emplace_back();
        row.up_to = one->up_to;
        if (const auto& senses = one->sensing) {
            row.pipelines = {senses->hot.name(), senses->produce.value_or(senses->hot).name(),
                             senses->on_fetched().name(), senses->cold.name()};
        } else {
            row.pipelines = {one->pipeline().name()};
        }
    }
    const Choice* small = profile.first(ChoiceKind::small, operation);
    if (small) standing.small = small->member().name;
    return standing;
}

/// Whether each of the `others` has one of these sizes at most twice, and at least half, as large.
bool serve(const std::set<std::size_t>& sizes, const std::set<std::size_t>& others) {
    return std::ranges::all_of(others, [&](std::size_t other) {
        const auto near = sizes.lower_bound((other + 1) / 2);
        return near != sizes.end() && *near / 2 <= other;
    });
}

/// The worth of a search among those for one purpose on one machine.
struct Worth {
    int rigor;
    std::set<std::size_t> sizes;
    bool extended, sensing, whole;
    unsigned threads;
    std::set<Operation> operations;
};

Worth worth_of_profile(const Profile& profile) {
    Worth worth{rank_of(profile.search.rigor),
                set_of(profile.sizes()),
                profile.search.space == "extended",
                contains(profile.search.axes, "sensing"),
                profile.complete,
                profile.search.threads.value_or(1),
                {}};
    for (const Choice& one : profile.choices) worth.operations.insert(one.operation);
    return worth;
}

Worth worth_of_search(const SearchOptions& options, bool may_end_early, const Worth& standing) {
    // Sensing depends on the counter, too, and sharing among threads on the sizes. A machine that
    // lacked these then still lacks them.
    return {rank_of(options.rigor),
            set_of(options.of(Operation::copy).sizes),
            options.space == "extended",
            options.sensing && standing.sensing,
            !may_end_early,
            std::min(options.threads, standing.threads),
            set_of(options.operations)};
}

/// "3 sizes to 64 KiB".
std::string sizes_in_words(const std::set<std::size_t>& sizes, const std::string& noun) {
    const std::string count = std::to_string(sizes.size()) + noun;
    return sizes.empty() ? count : count + " to " + format_size(*sizes.rbegin());
}

/// The respects in which `one`, a search of that rigor, is better than the other, in words.
std::string advantages(const Worth& one, const Worth& other, const std::string& rigor) {
    std::string text;
    const auto add = [&](bool better, const std::string& words) {
        if (better) text += (text.empty() ? "" : ", ") + words;
    };
    add(one.rigor > other.rigor, "rigor " + rigor);
    add(!serve(other.sizes, one.sizes),
        sizes_in_words(one.sizes, " sizes") + ", not " + sizes_in_words(other.sizes, ""));
    add(one.extended > other.extended, "the extended space");
    add(one.sensing > other.sensing, "copies that sense");
    add(one.threads > other.threads, "copies over threads");
    for (const Operation each : one.operations) {
        add(other.operations.count(each) == 0, name_of(each));
    }
    add(one.whole > other.whole, "complete, where a time budget may end this one early");
    return text;
}

} // namespace

void find_standing(const std::filesystem::path& place, const json& machine,
                   SearchOptions& options) {
    const std::optional<Profile> profile = comparable_profile(place, machine, options);
    if (!profile || rank_of(profile->search.rigor) < rank_of(options.rigor)) return;
    for (const OperationFacts& one : kOperations) {
        options.of(one.operation).standing = standing_of(*profile, one.operation);
    }
}

void refuse_worse_than_existing(const std::filesystem::path& place, const json& machine,
                                const SearchOptions& options, bool may_end_early) {
    const std::optional<Profile> profile = comparable_profile(place, machine, options);
    if (!profile) return;
    if (profile->search.noise && profile->search.noise->provisional) return;
    const Worth standing = worth_of_profile(*profile);
    const Worth wanted = worth_of_search(options, may_end_early, standing);
    const std::string why = advantages(standing, wanted, profile->search.rigor);
    const bool gains = !advantages(wanted, standing, options.rigor).empty();
    if (!standing.whole || gains || why.empty()) return;
    throw BadInput(place.string() + " came of a better search of this machine (" + why +
                   "): --fresh replaces it, -o writes elsewhere");
}

} // namespace asterope
