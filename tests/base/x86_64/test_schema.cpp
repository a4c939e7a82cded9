// The check against the schemas: whole files pass, and it knows every rule that they use.
#include "base/schema.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "base/schemas.hpp"
#include "support/made_up_log.hpp"
#include "support/mentions.hpp"

namespace asterope {
namespace {

using nlohmann::json;

/// The rules of a schema and of all that are in it.
void collect_rules(const json& schema, std::set<std::string>& rules) {
    for (const auto& [rule, value] : schema.items()) {
        rules.insert(rule);
        if (rule == "properties" || rule == "patternProperties" || rule == "$defs") {
            for (const auto& [name, inner] : value.items()) collect_rules(inner, rules);
        } else if (rule == "items") {
            collect_rules(value, rules);
        } else if (rule == "prefixItems") {
            for (const json& inner : value) collect_rules(inner, rules);
        }
    }
}

TEST(Schema, uses_no_rule_that_the_check_does_not_know) {
    const std::string known =
        " $schema $id $defs $ref title description type const enum minimum maximum exclusiveMinimum "
        "multipleOf $comment maxLength pattern minItems maxItems items uniqueItems "
        "required prefixItems maxProperties properties patternProperties "
        "additionalProperties ";
    std::set<std::string> used;
    json profile = json::parse(kProfileSchema);
    profile["$defs"].erase("choice"); // a log's header has none
    collect_rules(profile, used);
    collect_rules(json::parse(kTrialLogSchema), used);
    collect_rules(json::parse(kRecordingSchema), used);
    for (const std::string& rule : used) EXPECT_TRUE(mentions(known, " " + rule + " ")) << rule;
}

TEST(Schema, names_the_first_fault_and_its_place) {
    const auto fault_with = [](const char* place, const json& value) {
        json header = made_up_header();
        header[json::json_pointer(place)] = value;
        return log_header_fault(header);
    };
    EXPECT_EQ(log_header_fault(made_up_header()), "") << "it is whole";
    EXPECT_EQ(fault_with("/machine", 7), "machine: 7 where an object is expected");
    EXPECT_EQ(fault_with("/machine/\x1b[2J", 1), "machine[\"\\u001b[2J\"]: unknown field");
    json header = made_up_header();
    header.erase("machine");
    EXPECT_EQ(log_header_fault(header), "machine: missing");
    EXPECT_EQ(log_header_fault(json::array()), "an array where an object is expected");
}

TEST(Schema, does_not_run_out_of_stack_on_long_texts) {
    json header = made_up_header();
    for (const char* place : {"/tool_version", "/machine/libc", "/started", "/space_hash"}) {
        header = made_up_header();
        header[json::json_pointer(place)] = std::string(1 << 24, 'a');
        EXPECT_NE(log_header_fault(header), "") << place;
        EXPECT_LT(log_header_fault(header).size(), 200u);
    }
}

} // namespace
} // namespace asterope
