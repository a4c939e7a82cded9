// The one place where JSON text from outside becomes values.
#include "base/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/text_file.hpp"

namespace asterope {

namespace {

using nlohmann::json;

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

/// Where the text nests more deeply than we read. A pass of its own, as neither the parser nor its
/// events say where they are; it costs a twentieth of the parsing.
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

/// Takes everything and keeps nothing but where the parser stopped: its exceptions do not tell for
/// numbers that are too large.
class StopFinder : public nlohmann::json_sax<json> {
  public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t position, const std::string& token,
                     const nlohmann::detail::exception& error) override {
        too_large = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
        index = position - std::min(position, too_large ? token.size() : 1);
        return false;
    }

    std::size_t index = 0; ///< of the character or number that could not be taken
    bool too_large = false;
};

template <class Json> Json parse(std::string_view text, const std::string& what, std::size_t line) {
    if (const auto deep = too_deep(text)) {
        throw fault_at(text, *deep, what, line,
                       "nested more than " + std::to_string(kDeepestJson) + " deep: make it anew");
    }
    // The parser would skip one, in front of any line.
    const bool marked = text.substr(0, kByteOrderMark.size()) == kByteOrderMark;
    Json value = marked ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
    if (!value.is_discarded()) return value;
    StopFinder stop;
    if (!marked) json::sax_parse(text, &stop);
    throw fault_at(text, stop.index, what, line,
                   stop.too_large ? "a number that no machine has: make it anew"
                   : text.empty() ? "it is empty: make it anew"
                                  : "not JSON: it is damaged or cut short: make it anew");
}

} // namespace

json parse_json(std::string_view text, const std::string& what, std::size_t line) {
    return parse<json>(text, what, line);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what) {
    return parse<nlohmann::ordered_json>(text, what, 1);
}

nlohmann::json part_of(const nlohmann::json& value, const char* pointer) {
    const nlohmann::json::json_pointer place(pointer);
    return value.contains(place) ? value.at(place) : nlohmann::json();
}

} // namespace asterope
