// Copies of shared objects, as options name them, and the errors for those that cannot be used.
#include "timing/external_copy.hpp"

#include <dlfcn.h>

#include "support/unit_test.hpp"

namespace {

std::string error_of(const std::vector<std::string>& texts,
                     const std::vector<std::string>& taken = {}) {
    return refusal_of([&] { parse_external_copies(texts, "--peer", taken); });
}

} // namespace

TEST(ParseExternalCopies, have_name_path_and_symbol) {
    EXPECT_EQ(parse_external_copies({"musl=/lib/ld-musl.so.1:memcpy", "A_1-2.3=a:b=c.so:copy"},
                                    "--peer", {}),
              (std::vector<ExternalCopy>{{"musl", "/lib/ld-musl.so.1", "memcpy"},
                                         {"A_1-2.3", "a:b=c.so", "copy"}}));
}

TEST(ParseExternalCopies, refuse_what_lacks_a_part_and_a_name_that_another_copy_has) {
    for (const char* text :
         {"", "musl", "musl=", "musl=path", "musl=path:", "musl=:memcpy", "=path:memcpy",
          "mus/l=path:memcpy", "mu sl=path:memcpy", "path:memcpy"}) {
        EXPECT_EQ(error_of({text}).rfind("--peer ", 0), 0u) << text;
    }
    EXPECT_EQ(error_of({std::string(40, 'a') + "=path:memcpy"}), "");
    EXPECT_NE(error_of({std::string(41, 'a') + "=path:memcpy"}), "");
    EXPECT_EQ(error_of({"a=x.so:copy", "b=x.so:copy"}, {"c"}), "");
    const std::string why = "--peer a is the name of another copy: choose another";
    EXPECT_EQ(error_of({"a=x.so:copy", "a=y.so:copy"}), why);
    EXPECT_EQ(error_of({"a=x.so:copy"}, {"a"}), why);
}

TEST(LoadRequired, says_what_is_wrong_with_one_that_cannot_be_used_behind_its_option) {
    EXPECT_EQ(refusal_of([] {
                  load_required({"none", "/dev/null", "memcpy"}, "--reference");
              }),
              "--reference none cannot be loaded: /dev/null: is not a regular file");
}

TEST(LoadChecked, proves_a_function_as_one_of_its_operation) {
    Dl_info libc;
    ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "memset"), &libc), 0);
    std::string reason;
    EXPECT_NE(load_checked({"libc", libc.dli_fname, "memset", Operation::set}, reason), nullptr);
    EXPECT_EQ(reason, "");
    EXPECT_EQ(load_checked({"libc", libc.dli_fname, "memcpy", Operation::set}, reason), nullptr);
    EXPECT_NE(reason, "") << "it reads from where the byte says";
}
