// How built-in peers are named on the command line.
#include "bench/choice.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

using namespace asterope;

TEST(BuiltInNames, keep_the_order_of_those_that_are_known_and_leave_others_alone) {
    using Names = std::vector<std::string>;
    const Names known = {"one", "two", "three"};
    EXPECT_EQ(built_in_names({"all"}, known), known);
    EXPECT_EQ(built_in_names({}, known), Names());
    EXPECT_EQ(built_in_names({"x=four.so:one", "three", "one,three"}, known),
              (Names{"one", "three"}));
    for (const char* text : {"", "four", "one,", ",one", "one, two", "all,one"}) {
        EXPECT_THROW(built_in_names({text}, known), BadInput) << text;
    }
}
