// The profile: answers to its readers, and how it is read from files and written to them.
#include "profile/profile.hpp"

#include <ctime>

#include "base/contains.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "profile/field_writer.hpp"
#include "profile/provisional.hpp"

namespace asterope {

ExamRounds exam_rounds(const std::vector<double>& ratios, const std::vector<double>& own) {
    return {ratios.size(), rounded(median(ratios)), rounded(percentile(ratios, 1)),
            rounded(percentile(own, 1))};
}

std::vector<const Choice*> Profile::of(ChoiceKind kind, Operation operation,
                                       std::optional<Workload> intent) const {
    std::vector<const Choice*> found;
    for (const Choice& one : choices) {
        if (one.kind == kind && one.operation == operation && one.intent == intent) {
            found.push_back(&one);
        }
    }
    return found;
}

const Choice* Profile::first(ChoiceKind kind, Operation operation) const {
    const std::vector<const Choice*> found = of(kind, operation);
    return found.empty() ? nullptr : found.front();
}

std::vector<std::size_t> Profile::sizes(Operation operation) const {
    std::vector<std::size_t> sizes;
    for (const Choice* one : of(ChoiceKind::pipelines, operation)) sizes.push_back(one->size);
    return sizes;
}

std::vector<nlohmann::json> Profile::machines() const {
    std::vector<nlohmann::json> machines = {machine};
    if (merged) {
        for (const Merged::Source& one : merged->sources) machines.push_back(one.machine);
    }
    return machines;
}

std::vector<Part> compare_machines(const Profile& profile, const nlohmann::json& here) {
    std::vector<Part> parts = compare_machines(nearest_machine(profile.machines(), here), here);
    if (!contains(profile.choices, ChoiceKind::fresh, &Choice::kind)) return parts;
    for (Part& part : parts) {
        const bool differs = part.state == PartState::harmless;
        if (differs && part.name.ends_with(kHugePages)) part.state = PartState::decides;
    }
    return parts;
}

namespace {

/// A value that fits into one line stands in one: an entry, a measurement, a tuple. One number a
/// line would make the file three times as large.
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

nlohmann::ordered_json to_json(const Profile& profile) {
    nlohmann::ordered_json written = {
        {"format", kProfileFormat}, {"version", kProfileVersion}, {"architecture", kArchitecture}};
    profile_fields::Writer writer{written};
    profile_fields::fields(writer, profile);
    return written;
}

nlohmann::ordered_json noise_json(const DisturbanceCounts& noise) {
    return profile_fields::write(noise, 6);
}

std::string text_of(const Profile& profile) {
    std::string text;
    append_lines(text, to_json(profile), 0);
    return text + '\n';
}

std::string fault_of(const Profile& profile) {
    try {
        profile_of(to_json(profile));
        return "";
    } catch (const BadInput& fault) {
        return fault.what();
    }
}

Profile read_profile(const std::filesystem::path& path) {
    const std::string what = "profile " + path.string();
    return parse_profile(read_text_file(path, what), what);
}

Profile parse_profile(std::string_view text, const std::string& what) {
    const auto refuse = [&](const std::string& why) { return BadInput(what + ": " + why); };
    const nlohmann::ordered_json json = parse_json(text, what);
    const auto field = [&](const char* name) {
        return json.is_object() ? json.value(name, nlohmann::ordered_json())
                                : nlohmann::ordered_json();
    };
    if (field("format") != kProfileFormat) throw refuse("is not an asterope profile");
    const auto version = field("version");
    if (!version.is_number_integer()) throw refuse("has no version");
    if (version > kProfileVersion) {
        throw NewerProfile(what + ": was made by a newer asterope (version " + version.dump() +
                           "); upgrade, or make it anew");
    }
    if (version != kProfileVersion) {
        throw refuse("has version " + version.dump() + ", and this asterope reads " +
                     std::to_string(kProfileVersion) + ": tune again with asterope-tune");
    }
    if (const auto other = field("architecture"); other.is_string() && other != kArchitecture) {
        throw OtherArchitecture(what + ": is for another architecture than " + kArchitecture);
    }
    try {
        return profile_of(json);
    } catch (const BadInput& fault) {
        throw refuse(
            fault.what() +
            std::string(": it is damaged: correct it, or make it anew with asterope-tune"));
    }
}

std::string bandwidth_text(double gb_per_s) {
    if (gb_per_s <= 0) return "-";
    return formatted("%.*f", gb_per_s < 10 ? 2 : gb_per_s < 100 ? 1 : 0, gb_per_s);
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
