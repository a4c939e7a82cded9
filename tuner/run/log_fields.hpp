// The fields of one line of a trial log, each checked as it is read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/gzip_lines.hpp"
#include "base/json_text.hpp"
#include "timing/disturbance_monitor.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// All members throw BadInput with the reason why a field cannot be used.
class LogFields {
  public:
    /// `fields` must outlive it, and be an object.
    explicit LogFields(const nlohmann::json& fields);

    bool has(const char* name) const { return fields_.contains(name); }
    std::string text(const char* name) const;
    std::uint64_t whole(const char* name) const;
    std::uint64_t calls() const;             ///< at least 1
    double positive(const char* name) const; ///< a time
    Workload workload() const;
    std::vector<double> ticks(const char* name) const;
    std::vector<Disturbance> hits() const;
    const nlohmann::json& list(const char* name) const;
    const nlohmann::json& all() const { return fields_; }

  private:
    const nlohmann::json& field(const char* name) const;
    const nlohmann::json& fields_;
};

/// What a line of a log cannot be used for: "log trials.jsonl: line 3: ns is missing".
inline BadInput damaged_line(const LineReader& lines, const std::string& why) {
    return BadInput(lines.what() + ": line " + std::to_string(lines.number()) + ": " + why);
}

/// Gives the fields of the next line to `use`; false at the end. What `use` throws as BadInput is
/// thrown with the line's number before it.
template <class Use> bool read_line(LineReader& lines, Use use) {
    std::string text;
    if (!lines.next(text)) return false;
    const nlohmann::json fields = parse_json(text, lines.what(), lines.number());
    try {
        use(LogFields(fields));
    } catch (const BadInput& fault) {
        throw damaged_line(lines, fault.what());
    }
    return true;
}

} // namespace asterope
