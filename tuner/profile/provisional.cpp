// Whether a profile is provisional, because of noise, and why: in words, and as files have it.
#include "profile/provisional.hpp"

#include <nlohmann/json.hpp>

#include "base/json_part.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// 0 for what is no count.
std::size_t count_of(const json& value) {
    return value.is_number_integer() && value >= 0 ? value.get<std::size_t>() : 0;
}

std::size_t count_at(const json& value, const char* pointer) {
    return count_of(part_of(value, pointer));
}

DisturbanceCounts noise_of(const json& profile) {
    DisturbanceCounts noise{count_at(profile, "/search/noise/rounds"),
                            count_at(profile, "/search/noise/repeated"),
                            count_at(profile, "/search/noise/kept"),
                            {},
                            part_of(profile, "/search/noise/provisional") == true};
    const json disturbed = part_of(profile, "/search/noise/disturbed");
    if (!disturbed.is_object()) return noise;
    for (const auto& [kind, rounds] : disturbed.items()) {
        noise.disturbed[kind] = count_of(rounds);
    }
    return noise;
}

std::size_t undecided_of(const json& intervals) {
    std::size_t count = 0;
    if (!intervals.is_array()) return count;
    for (const json& interval : intervals) count += part_of(interval, "/undecided") == true;
    return count;
}

} // namespace

nlohmann::ordered_json noise_json(const DisturbanceCounts& noise) {
    nlohmann::ordered_json disturbed = nlohmann::ordered_json::object();
    for (const auto& [kind, rounds] : noise.disturbed) disturbed[kind] = rounds;
    return {{"rounds", noise.rounds},
            {"disturbed", disturbed},
            {"repeated", noise.repeated},
            {"kept", noise.kept},
            {"provisional", noise.provisional}};
}

std::size_t count_undecided(const json& profile) {
    std::size_t count = undecided_of(part_of(profile, "/intervals")) +
                        (part_of(profile, "/small/undecided") == true);
    const json intents = part_of(profile, "/intents");
    if (!intents.is_object()) return count;
    for (const auto& [name, intent] : intents.items()) {
        count += undecided_of(part_of(intent, "/intervals"));
    }
    return count;
}

std::string why_provisional(const json& profile) {
    const DisturbanceCounts noise = noise_of(profile);
    if (!noise.provisional) return "";
    std::string why = kept_in_words(noise);
    if (const std::size_t undecided = count_undecided(profile)) {
        why += (why.empty() ? "" : ", and ") + std::to_string(undecided) +
               (undecided == 1 ? " winner is the plain copy, as noise hid a better one"
                               : " winners are the plain copy, as noise hid better ones");
    }
    return why.empty() ? "too many rounds of its search stayed disturbed" : why; // made by hand
}

} // namespace asterope
