// A section as text and as JSON.
#include "diagnose/section.hpp"

#include "base/text.hpp"

namespace asterope::diagnosis {

std::string to_text(const Section& section) {
    std::string out = section.name + ": " + section.question + '\n';
    if (!section.skipped.empty()) return out + "skipped: " + section.skipped + '\n';
    std::vector<std::vector<std::string>> table = {section.columns};
    table.insert(table.end(), section.cells.begin(), section.cells.end());
    out += aligned(table, {section.columns.front()}, 2);
    for (const std::string& note : section.notes) out += "note: " + note + '\n';
    return out + "verdict: " + section.verdict + '\n';
}

nlohmann::ordered_json to_json(const Section& section) {
    nlohmann::ordered_json json = {{"name", section.name}, {"question", section.question}};
    if (!section.skipped.empty()) {
        json["skipped"] = section.skipped;
        return json;
    }
    json["verdict"] = section.verdict;
    json["notes"] = section.notes;
    json["rows"] = section.rows;
    return json;
}

std::string format_time(double seconds) {
    if (seconds < 9999.95e-9) return formatted("%.1f ns", seconds * 1e9);
    if (seconds < 9999.95e-6) return formatted("%.1f us", seconds * 1e6);
    return formatted("%.1f ms", seconds * 1e3);
}

std::string format_factor(double factor) {
    return formatted("%.*f", factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0, factor);
}

} // namespace asterope::diagnosis
