// How options name copies of shared objects, and what is said of those that cannot be used.
#include "timing/external_copy.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

using namespace asterope;

namespace {

std::string error_of(const std::vector<std::string>& texts,
                     const std::vector<std::string>& taken = {}) {
    try {
        parse_external_copies(texts, "--peer", taken);
    } catch (const BadInput& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(ParseExternalCopy, has_name_path_and_symbol) {
    EXPECT_EQ(parse_external_copy("musl=/lib/ld-musl.so.1:memcpy", "--peer"),
              (ExternalCopy{"musl", "/lib/ld-musl.so.1", "memcpy"}));
    EXPECT_EQ(parse_external_copy("A_1-2.3=a:b=c.so:copy", "--peer"),
              (ExternalCopy{"A_1-2.3", "a:b=c.so", "copy"}));
}

TEST(ParseExternalCopy, refuses_what_lacks_a_part) {
    for (const char* text :
         {"", "musl", "musl=", "musl=path", "musl=path:", "musl=:memcpy", "=path:memcpy",
          "mus/l=path:memcpy", "mu sl=path:memcpy", "path:memcpy"}) {
        EXPECT_EQ(error_of({text}).rfind("--peer ", 0), 0u) << text;
    }
    EXPECT_EQ(error_of({std::string(40, 'a') + "=path:memcpy"}), "");
    EXPECT_NE(error_of({std::string(41, 'a') + "=path:memcpy"}), "");
}

TEST(ParseExternalCopies, refuses_a_name_that_another_copy_has) {
    EXPECT_EQ(error_of({"a=x.so:copy", "b=x.so:copy"}, {"c"}), "");
    const std::string why = "--peer a is the name of another copy: choose another";
    EXPECT_EQ(error_of({"a=x.so:copy", "a=y.so:copy"}), why);
    EXPECT_EQ(error_of({"a=x.so:copy"}, {"a"}), why);
}

TEST(LoadReference, says_what_is_wrong_with_one_that_cannot_be_used) {
    EXPECT_THROW(load_reference({"none", "/no/such/library.so", "memcpy"}), BadInput);
    try {
        load_reference({"none", "/dev/null", "memcpy"});
        FAIL();
    } catch (const BadInput& error) {
        EXPECT_STREQ(error.what(),
                     "--reference none cannot be loaded: /dev/null: is no regular file");
    }
}
