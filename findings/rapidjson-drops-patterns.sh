#!/usr/bin/env bash
# RapidJSON's validator drops a whole pattern that holds \d, \w or (?:, and says nothing.
#
# Version: rapidjson-dev 1.1.0+dfsg2-7.1 (Debian 12).
# Expected: https://rapidjson.org/md_doc_schema.html lists what the built-in regular expressions
#   can do. \d, \w and (?: are not in the list, though JSON Schema's own tests and most schemas
#   have them. A schema with an unknown one is refused, or nothing matches it.
# Seen: everything matches it. A schema for sizes such as "4096" takes "abc", and no function of
#   SchemaDocument says so: it has none for errors. The same schema with [0-9] rejects "abc". In
#   patternProperties, such a pattern matches no name, so that its rules are never applied.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq rapidjson-dev=1.1.0+dfsg2-7.1 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.cpp" <<'CPP'
#include <rapidjson/document.h>
#include <rapidjson/schema.h>

#include <iostream>
using namespace rapidjson;
static void check(const char *schema, const char *text) {
    Document rules, value;
    rules.Parse(schema);
    value.Parse(text);
    SchemaDocument compiled(rules);
    SchemaValidator validator(compiled);
    std::cout << schema << ' ' << text << ' ' << (value.Accept(validator) ? "yes" : "no") << '\n';
}
int main() {
    check(R"({"pattern":"^[0-9]+$"})", R"("4096")");
    check(R"({"pattern":"^[0-9]+$"})", R"("abc")");
    check(R"({"pattern":"^\\d+$"})", R"("4096")");
    check(R"({"pattern":"^\\d+$"})", R"("abc")");
    check(R"({"pattern":"^\\w+$"})", R"("a b")");
    check(R"({"pattern":"^(?:4|8)$"})", R"("abc")");
    check(R"({"patternProperties":{"^[0-9]+$":{"type":"integer"}}})", R"({"12":"abc"})");
    check(R"({"patternProperties":{"^\\d+$":{"type":"integer"}}})", R"({"12":"abc"})");
}
CPP
c++ -w -std=c++17 -O0 -I "$work/root/usr/include" -o "$work/program" "$work/program.cpp"
"$work/program" | tee "$work/seen.txt"
diff - "$work/seen.txt" <<'TEXT' || { echo "changed: see above" >&2; exit 1; }
{"pattern":"^[0-9]+$"} "4096" yes
{"pattern":"^[0-9]+$"} "abc" no
{"pattern":"^\\d+$"} "4096" yes
{"pattern":"^\\d+$"} "abc" yes
{"pattern":"^\\w+$"} "a b" yes
{"pattern":"^(?:4|8)$"} "abc" yes
{"patternProperties":{"^[0-9]+$":{"type":"integer"}}} {"12":"abc"} no
{"patternProperties":{"^\\d+$":{"type":"integer"}}} {"12":"abc"} yes
TEXT
