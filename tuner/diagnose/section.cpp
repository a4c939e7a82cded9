// A section of a diagnosis: one pitfall, what was measured of it, and what that means.
#include "diagnose/section.hpp"

#include <algorithm>
#include <cstdio>

namespace asterope::diagnosis {

namespace {

using Row = std::vector<std::string>;

/// Row names to the left, all else to the right, two blanks in between.
std::string table(const Row& columns, const std::vector<Row>& cells) {
    std::vector<std::size_t> widths(columns.size(), 0);
    const auto widen = [&](const Row& row) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    };
    widen(columns);
    for (const Row& row : cells) widen(row);
    std::string out;
    const auto append = [&](const Row& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - row[i].size(), ' ');
            line += i == 0 ? row[i] + padding : "  " + padding + row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    append(columns);
    for (const Row& row : cells) append(row);
    return out;
}

} // namespace

std::string to_text(const Section& section) {
    std::string out = section.name + ": " + section.question + '\n';
    if (!section.skipped.empty()) return out + "skipped: " + section.skipped + '\n';
    out += table(section.columns, section.cells);
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
    char text[40];
    if (seconds < 9999.95e-9) {
        std::snprintf(text, sizeof text, "%.1f ns", seconds * 1e9);
    } else if (seconds < 9999.95e-6) {
        std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
    } else {
        std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
    }
    return text;
}

std::string format_factor(double factor) {
    char text[40];
    std::snprintf(text, sizeof text,
                  factor < 9.995   ? "%.2f"
                  : factor < 99.95 ? "%.1f"
                                   : "%.0f",
                  factor);
    return text;
}

} // namespace asterope::diagnosis
