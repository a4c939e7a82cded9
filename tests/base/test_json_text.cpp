// JSON from outside: refused with its place, and before it can nest too deeply for us.
#include "base/json_text.hpp"

#include "base/text_file.hpp"
#include "support/unit_test.hpp"

namespace {

std::string fault(const std::string& text, std::size_t line = 1) {
    return refusal_of([&] { parse_json(text, "thing", line); });
}

/// So many arrays in one another.
std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJson, gives_the_value) {
    const json expected = {{"b", {1, -2, 0.5, true, nullptr}}, {"a", "\xc3\xa4\n"}};
    EXPECT_EQ(json(parse_json(expected.dump(2), "thing")), expected);
    EXPECT_EQ(parse_json(R"({"b":1,"a":2})", "thing").dump(), R"({"b":1,"a":2})");
}

TEST(ParseJson, names_the_line_and_the_character_at_which_it_stopped) {
    const std::string why = ": not JSON: it is damaged or cut short: make it anew";
    const std::pair<const char*, const char*> cases[] = {{"x", "1 column 1"},
                                                         {"{\"a\": 1,\n \"b\": }", "2 column 7"},
                                                         {"{\"\xc3\xa4\xc3\xb6\": }", "1 column 8"},
                                                         {"[1", "1 column 3"},
                                                         {"[1]\n\n[2]", "3 column 1"},
                                                         {"[\"a\tb\"]", "1 column 4"},
                                                         {"[NaN]", "1 column 2"}};
    for (const auto& [text, place] : cases) EXPECT_EQ(fault(text), "thing: line " + (place + why));
    EXPECT_EQ(fault("}", 70), "thing: line 70 column 1" + why);
    EXPECT_EQ(fault(""), "thing: line 1 column 1: it is empty: make it anew");
    // which readers of files skip
    EXPECT_EQ(fault(std::string(kByteOrderMark) + "{}").rfind("thing: line 1 column 1: ", 0), 0u);
    EXPECT_EQ(fault("{\"a\":\n[1, -1e999]}"),
              "thing: line 2 column 5: a number that no machine has: make it anew");
}

TEST(ParseJson, takes_nesting_as_deep_as_allowed_and_refuses_deeper_nesting) {
    EXPECT_EQ(fault(nested(kDeepestJson)), "");
    const std::string most = nested(kDeepestJson - 1);
    EXPECT_EQ(fault(std::string("[").append(most).append(",").append(most).append("]")), "");
    EXPECT_EQ(fault("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"), "");
    const std::string why = ": nested more than 16 deep: make it anew";
    for (const std::string& text :
         {nested(kDeepestJson + 1), nested(1000000), std::string(1000000, '[')}) {
        EXPECT_EQ(fault(text), "thing: line 1 column 17" + why);
    }
    std::string objects = "\n";
    for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
    EXPECT_EQ(fault(objects), "thing: line 2 column 81" + why);
}

TEST(ParseJson, refuses_a_name_that_one_object_gives_twice_and_takes_it_in_two) {
    EXPECT_EQ(fault(R"({"a":{"b":1},"b":[{"b":2},{"b":3}]})"), "");
    EXPECT_EQ(fault(R"([{"a":1,"b":{},"a":1}])"),
              "thing: \"a\" is given twice in one object: make it anew");
}

} // namespace
