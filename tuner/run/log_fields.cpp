// The fields of one line of a trial log, each checked as it is read.
#include "run/log_fields.hpp"

#include <optional>

namespace asterope {

using nlohmann::json;

namespace {

BadInput no_time(const char* name, const json& value) {
    return BadInput(std::string(name) + ' ' + value.dump().substr(0, 40) + " is no time above 0");
}

} // namespace

LogFields::LogFields(const json& fields) : fields_(fields) {
    if (!fields.is_object()) throw BadInput("is no JSON object");
}

const json& LogFields::field(const char* name) const {
    const auto found = fields_.find(name);
    if (found == fields_.end()) throw BadInput(std::string(name) + " is missing");
    return *found;
}

const json& LogFields::list(const char* name) const {
    const json& value = field(name);
    if (!value.is_array()) throw BadInput(std::string(name) + " is no list");
    return value;
}

std::string LogFields::text(const char* name) const {
    const json& value = field(name);
    if (!value.is_string()) throw BadInput(std::string(name) + " is no text");
    return value.get<std::string>();
}

std::uint64_t LogFields::whole(const char* name) const {
    const json& value = field(name);
    if (!value.is_number_unsigned()) throw BadInput(std::string(name) + " is no whole number");
    return value.get<std::uint64_t>();
}

std::uint64_t LogFields::calls() const {
    const std::uint64_t calls = whole("calls");
    if (calls == 0) throw BadInput("0 calls");
    return calls;
}

// NaN and infinity are no JSON: parse_json has refused them.
double LogFields::positive(const char* name) const {
    const json& value = field(name);
    if (!value.is_number() || !(value.get<double>() > 0)) throw no_time(name, value);
    return value.get<double>();
}

Workload LogFields::workload() const {
    const std::string name = text("workload");
    const std::optional<Workload> found = find_workload(name);
    if (!found) throw BadInput("unknown workload '" + name.substr(0, 40) + '\'');
    return *found;
}

std::vector<double> LogFields::ticks(const char* name) const {
    std::vector<double> ticks;
    for (const json& one : list(name)) {
        if (!one.is_number() || !(one.get<double>() >= 0))
            throw BadInput(std::string(name) + " below 0");
        ticks.push_back(one.get<double>());
    }
    return ticks;
}

std::vector<Disturbance> LogFields::hits() const {
    std::vector<Disturbance> hits;
    for (const json& one : list("hit")) {
        const auto found = one.is_string() ? parse_disturbance(one.get<std::string>())
                                           : std::optional<Disturbance>();
        if (!found) throw BadInput("unknown disturbance " + one.dump().substr(0, 40));
        hits.push_back(*found);
    }
    return hits;
}

} // namespace asterope
