// The profile: read from files and written to them.
#include "profile/profile.hpp"

#include <ctime>

#include "base/json_text.hpp"
#include "base/schema.hpp"
#include "base/text_file.hpp"
#include "machine/cpu.hpp"

namespace asterope {

bool Profile::has_all() const {
    return left_out.empty() && (!memset || memset->left_out.empty());
}

std::vector<std::size_t> Profile::sizes() const {
    std::vector<std::size_t> sizes;
    for (const Interval& interval : intervals) sizes.push_back(interval.size);
    return sizes;
}

std::vector<nlohmann::json> Profile::machines() const {
    std::vector<nlohmann::json> machines = {machine};
    if (merged) {
        for (const Merged::Source& one : merged->sources) machines.push_back(one.machine);
    }
    return machines;
}

namespace {

/// What fits into one line stands in one: an entry, a measurement, a tuple. One number a line would
/// make the file three times as large.
void append_lines(std::string& out, const nlohmann::ordered_json& value, std::size_t depth) {
    constexpr std::size_t kWidth = 120;
    const std::string line = value.dump();
    if (line.size() <= kWidth || !value.is_structured()) {
        out += line;
        return;
    }
    const bool is_object = value.is_object();
    out += is_object ? '{' : '[';
    const char* comma = "\n";
    for (const auto& [name, part] : value.items()) {
        out += comma + std::string(depth + 1, ' ');
        if (is_object) out += nlohmann::ordered_json(name).dump() + ':';
        append_lines(out, part, depth + 1);
        comma = ",\n";
    }
    out += '\n' + std::string(depth, ' ') + (is_object ? '}' : ']');
}

} // namespace

std::string text_of(const Profile& profile) {
    std::string text;
    append_lines(text, to_json(profile), 0);
    return text + '\n';
}

Profile read_profile(const std::filesystem::path& path) {
    const std::string what = "profile " + path.string();
    return parse_profile(read_text_file(path, what), what);
}

Profile parse_profile(std::string_view text, const std::string& what) {
    const auto refuse = [&](const std::string& why) { return BadInput(what + ": " + why); };
    const nlohmann::ordered_json ordered = parse_ordered_json(text, what);
    const nlohmann::json json = ordered;
    const auto field = [&](const char* name) {
        return json.is_object() ? json.value(name, nlohmann::json()) : nlohmann::json();
    };
    if (field("format") != kProfileFormat) throw refuse("is no asterope profile");
    const auto version = field("version");
    if (!version.is_number_integer()) throw refuse("has no version");
    if (version > kProfileVersion) {
        throw NewerProfile(what + ": was made by a newer asterope (version " + version.dump() +
                           "); upgrade, or make it anew");
    }
    if (version != kProfileVersion) throw refuse("has unknown version " + version.dump());
    if (const auto other = field("architecture"); other.is_string() && other != kArchitecture) {
        throw OtherArchitecture(what + ": is for another architecture than " + kArchitecture);
    }
    if (const std::string fault = profile_fault(json); !fault.empty()) {
        throw refuse(fault + ": it is damaged: correct it, or make it anew with asterope-tune");
    }
    Profile profile;
    try {
        profile = profile_of(ordered);
    } catch (const BadInput& fault) {
        throw refuse(fault.what() + std::string(": make it anew with asterope-tune"));
    }
    std::size_t above = 0;
    for (Interval& interval : profile.intervals) {
        if (interval.up_to <= above) throw refuse("has intervals that do not ascend");
        above = interval.up_to;
        if (interval.size == 0) interval.size = interval.up_to;
    }
    return profile;
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

} // namespace asterope
