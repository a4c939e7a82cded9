// The references of a run: their form as an option, and the facts that make two of them the same.
#include "run/references.hpp"

#include "support/unit_test.hpp"

TEST(ParseReferences, reads_the_symbols_of_each_operation) {
    struct {
        const char *text, *copy, *set; // "": it has none
    } const cases[] = {{"new=a.so", "a.so memcpy", "a.so memset"},
                       {"new=a.so:copy", "a.so copy", ""},
                       {"new=./a:b/c.so:copy,set", "./a:b/c.so copy", "./a:b/c.so set"},
                       {"new=./a:b/c.so", "./a:b/c.so memcpy", "./a:b/c.so memset"}};
    for (const auto& [text, copy, set] : cases) {
        const auto named = [&text = text](Operation operation) {
            const auto all = parse_references({text}, operation);
            return all.empty() ? "" : all.front().path + ' ' + all.front().symbol;
        };
        EXPECT_EQ(named(Operation::copy), copy);
        EXPECT_EQ(named(Operation::set), set);
    }
    EXPECT_THROW(parse_references({"a.so:memcpy"}), BadInput);
    EXPECT_THROW(parse_references({"new=:memcpy"}), BadInput);
}

using ReferenceHash = TemporaryFolder;

TEST_F(ReferenceHash, is_of_the_library_and_the_symbol) {
    for (const char* name : {"one.so", "same.so"}) put(name, "code");
    put("other.so", "other code");
    const auto hash = [&](const std::string& place) {
        return names_of(parse_references({"new=" + (folder / place).string()})).front().hash;
    };
    EXPECT_EQ(hash("one.so:memcpy"), hash("same.so:memcpy"));
    EXPECT_NE(hash("one.so:memcpy"), hash("other.so:memcpy"));
    EXPECT_NE(hash("one.so:memcpy"), hash("one.so:memmove"));
}
