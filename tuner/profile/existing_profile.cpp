// The profile that lies where a new one shall go: whether it is worth more.
#include "profile/existing_profile.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/json_part.hpp"
#include "base/json_text.hpp"
#include "base/profile_text.hpp"
#include "base/text_file.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "machine/nearest_machine.hpp"
#include "profile/profile.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// What lies at `place`; null where nothing does, or nothing that is worth a thought.
json existing_profile(const std::filesystem::path& place) {
    std::error_code error;
    const auto type = std::filesystem::status(place, error).type();
    // A pipe or a terminal is no profile either, and to read one might take for ever.
    if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::none) {
        return nullptr;
    }
    const std::string force = "; --force replaces it without looking, -o writes elsewhere";
    std::string text;
    try {
        text = read_text_file(place, "cannot look whether " + place.string() + " is worth more");
    } catch (const BadInput& unreadable) {
        throw BadInput(unreadable.what() + force);
    }
    json profile;
    try {
        profile = parse_json(text, "");
    } catch (const BadInput&) {
        return nullptr;
    }
    if (!profile.is_object() || profile.value("format", json()) != "asterope-profile") {
        return nullptr;
    }
    if (const json version = profile.value("version", json());
        version.is_number_integer() && version > kProfileVersion) {
        throw BadInput(place.string() + " was made by a newer asterope" + force);
    }
    try {
        return parse_profile(text, "");
    } catch (const BadInput&) {
        return nullptr;
    }
}

/// By rising rigor; -1 for what is none.
int rank_of(const json& rigor) {
    constexpr const char* kRigors[] = {"quick", "standard", "exhaustive"};
    const auto found = std::find(std::begin(kRigors), std::end(kRigors), rigor);
    return found == std::end(kRigors) ? -1 : static_cast<int>(found - std::begin(kRigors));
}

/// Profiles have six digits of each weight.
bool same_weights(const json& recorded, const json& wanted) {
    if (!recorded.is_object() || !wanted.is_object() || recorded.size() != wanted.size()) {
        return false;
    }
    return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& weight) {
        const json there = recorded.value(weight.key(), json());
        return there.is_number() && weight.value().is_number() &&
               std::abs(there.template get<double>() - weight.value().template get<double>()) <
                   1e-5;
    });
}

std::set<std::string> names(const json& list) {
    std::set<std::string> names;
    if (!list.is_array()) return names;
    for (const json& name : list) {
        if (name.is_string()) names.insert(name);
    }
    return names;
}

std::string text_or_none(const json& value) {
    return value.is_string() ? profile_name(value.get_ref<const std::string&>()) : std::string();
}

bool same_purpose(const json& profile, const json& options) {
    const json small = profile.value("small", json());
    const bool same_small =
        small.is_null() ||
        (text_or_none(part_of(small, "/objective")) == options.at("small") &&
         text_or_none(part_of(small, "/distribution")) == text_or_none(options.at("distribution")));
    return same_small && same_weights(part_of(profile, "/search/weights"), options.at("weights")) &&
           text_or_none(part_of(profile, "/search/source_map")) ==
               text_or_none(options.at("source_map")) &&
           names(part_of(profile, "/search/without")) == names(options.at("without"));
}

/// What makes a search worth more than another, of those for one purpose on one machine.
struct Worth {
    int rigor;
    std::set<std::size_t> sizes;
    bool extended, sensing, whole;
    unsigned threads;

    bool covers(const Worth& other) const {
        return rigor >= other.rigor && extended >= other.extended && sensing >= other.sensing &&
               whole >= other.whole && threads >= other.threads &&
               std::includes(sizes.begin(), sizes.end(), other.sizes.begin(), other.sizes.end());
    }
};

Worth worth_of_profile(const json& profile) {
    const std::vector<std::size_t> sizes = profile_sizes(profile);
    const json threads = part_of(profile, "/threads/most");
    return {rank_of(part_of(profile, "/search/rigor")),
            {sizes.begin(), sizes.end()},
            part_of(profile, "/search/space") == "extended",
            names(part_of(profile, "/search/axes")).count("sensing") > 0,
            profile.value("complete", json()) == true,
            threads.is_number_unsigned() ? threads.get<unsigned>() : 1};
}

Worth worth_of_search(const json& options, bool may_end_early, const Worth& standing) {
    const auto sizes = options.at("sizes").get<std::vector<std::size_t>>();
    // Whether copies that sense are tried depends on the counter, too, and whether copies are
    // shared on the sizes: what this machine did not have then, it is not going to have now.
    const bool sensing = options.at("sensing").get<bool>() && standing.sensing;
    const unsigned threads = std::min(options.at("threads").get<unsigned>(), standing.threads);
    return {rank_of(options.at("rigor")),
            {sizes.begin(), sizes.end()},
            options.at("space") == "extended",
            sensing,
            !may_end_early,
            threads};
}

/// What it is better in, in words.
std::string advantages(const Worth& standing, const Worth& wanted, const json& rigor) {
    std::string text;
    const auto add = [&](bool better, const std::string& words) {
        if (better) text += (text.empty() ? "" : ", ") + words;
    };
    add(standing.rigor > wanted.rigor, "rigor " + text_or_none(rigor));
    add(standing.sizes.size() > wanted.sizes.size(), std::to_string(standing.sizes.size()) +
                                                         " sizes, not " +
                                                         std::to_string(wanted.sizes.size()));
    add(standing.extended > wanted.extended, "the extended space");
    add(standing.sensing > wanted.sensing, "copies that sense");
    add(standing.threads > wanted.threads, "copies over threads");
    add(standing.whole > wanted.whole, "complete, where a time budget may end this one early");
    return text;
}

} // namespace

void refuse_worse_than_existing(const std::filesystem::path& place, const json& machine,
                                const json& options, bool may_end_early) {
    const json profile = existing_profile(place);
    if (profile.is_null() || profile.value("architecture", json()) != kArchitecture) return;
    if (!fingerprint_differences(nearest_machine(profile, machine), machine).empty()) return;
    if (!same_purpose(profile, options)) return;
    if (part_of(profile, "/search/noise/provisional") == true) return;
    const Worth standing = worth_of_profile(profile);
    const Worth wanted = worth_of_search(options, may_end_early, standing);
    if (!standing.whole || !standing.covers(wanted) || wanted.covers(standing)) return;
    throw BadInput(place.string() + " came of a better search of this machine (" +
                   advantages(standing, wanted, part_of(profile, "/search/rigor")) +
                   "): --force replaces it, -o writes elsewhere");
}

} // namespace asterope
