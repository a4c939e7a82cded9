// How built-in peers are named on the command line.
#include "bench/choice.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

using namespace asterope;

TEST(ParsePeerNames, keeps_the_order_of_those_that_are_known) {
    const std::vector<std::string> known = {"one", "two", "three"};
    EXPECT_EQ(parse_peer_names("all", known), known);
    EXPECT_TRUE(parse_peer_names("none", known).empty());
    EXPECT_EQ(parse_peer_names("three,one", known), (std::vector<std::string>{"one", "three"}));
    EXPECT_EQ(parse_peer_names("two,two", known), std::vector<std::string>{"two"});
    for (const char* text : {"", "four", "one,", ",one", "one, two", "all,one"}) {
        EXPECT_THROW(parse_peer_names(text, known), BadInput) << text;
    }
}
