// nlohmann::json parses. The errors get line and column, and deep nesting is refused beforehand.
#include "base/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text_file.hpp"

namespace asterope {

namespace {

using nlohmann::ordered_json;

/// The error at an index of the text.
BadInput fault_at(std::string_view text, std::size_t index, const std::string& what,
                  std::size_t line, const std::string& why) {
    const std::string_view before = text.substr(0, index);
    const std::size_t newline = before.rfind('\n');
    const std::string_view row = newline == before.npos ? before : before.substr(newline + 1);
    const auto is_first = [](unsigned char byte) { return (byte & 0xC0) != 0x80; }; // of UTF-8's
    line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const auto column = 1 + std::ranges::count_if(row, is_first);
    return BadInput(what + ": line " + std::to_string(line) + " column " + std::to_string(column) +
                    ": " + why);
}

/// The place where the text nests more deeply than we read. This is a pass of its own, as neither
/// the parser nor its events say where they are. It costs a twentieth of the parsing.
std::optional<std::size_t> too_deep(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (depth++ == kDeepestJson) return i;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return std::nullopt;
}

} // namespace

ordered_json parse_json(std::string_view text, const std::string& what, std::size_t line) {
    const auto fault = [&](std::size_t index, const std::string& why) {
        return fault_at(text, index, what, line, why + ": make it anew");
    };
    if (const auto deep = too_deep(text)) {
        throw fault(*deep, "nested more than " + std::to_string(kDeepestJson) + " deep");
    }
    const char* const damaged = "not JSON: it is damaged or cut short";
    if (text.empty()) throw fault(0, "it is empty");
    if (text.starts_with(kByteOrderMark)) throw fault(0, damaged); // the parser would skip it
    // A key may not come twice: one program would read the first value, another one the last.
    std::vector<std::set<std::string>> names;
    std::string repeated;
    using Event = ordered_json::parse_event_t;
    const auto note = [&](int, Event event, ordered_json& parsed) {
        if (event == Event::object_start) names.emplace_back();
        if (event == Event::object_end) names.pop_back();
        if (event == Event::key && repeated.empty()) {
            const auto& name = parsed.get_ref<const std::string&>();
            if (!names.back().insert(name).second) repeated = parsed.dump(-1, ' ', true);
        }
        return true;
    };
    try {
        ordered_json value = ordered_json::parse(text, note);
        if (repeated.empty()) return value;
    } catch (const ordered_json::parse_error& error) {
        throw fault(error.byte - std::min<std::size_t>(error.byte, 1), damaged);
    } catch (const ordered_json::out_of_range& error) { // which says what, in quotes, and not where
        const std::string_view said = error.what();
        const std::size_t begin = said.find('\'') + 1;
        const std::size_t index = text.find(said.substr(begin, said.rfind('\'') - begin));
        throw fault(std::min(index, text.size()), "a number that no machine has");
    }
    throw BadInput(what + ": " + repeated.substr(0, 40) +
                   " is given twice in one object: make it anew");
}

nlohmann::json part_of(const nlohmann::json& value, const char* pointer) {
    const nlohmann::json::json_pointer place(pointer);
    return value.contains(place) ? value.at(place) : nlohmann::json();
}

} // namespace asterope
