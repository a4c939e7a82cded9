// How peers are named on the command line, and what a copy must do to be timed.
#include "bench/choice.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "bench/correctness.hpp"

using namespace asterope;

TEST(ParsePeer, has_name_path_and_symbol) {
    EXPECT_EQ(parse_peer("musl=/lib/ld-musl.so.1:memcpy"),
              (LoadedPeer{"musl", "/lib/ld-musl.so.1", "memcpy"}));
    EXPECT_EQ(parse_peer("a_1=a:b=c.so:copy"), (LoadedPeer{"a_1", "a:b=c.so", "copy"}));
}

TEST(ParsePeer, refuses_what_lacks_a_part) {
    for (const char* text :
         {"", "musl", "musl=", "musl=path", "musl=path:", "musl=:memcpy", "=path:memcpy",
          "Musl=path:memcpy", "mu sl=path:memcpy", "path:memcpy"}) {
        EXPECT_THROW(parse_peer(text), BadInput) << text;
    }
    EXPECT_THROW(parse_peer(std::string(41, 'a') + "=path:memcpy"), BadInput);
}

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

namespace {

template <auto copy>
std::string fault(std::size_t least = 0, double seconds = 60, bool moves = false) {
    return fault_of(
        [](std::string&) -> CopyFunction {
            return [](void* to, const void* from, std::size_t size, std::size_t) {
                return copy(to, from, size);
            };
        },
        least, seconds, moves);
}

void* right(void* to, const void* from, std::size_t size) {
    return std::memcpy(to, from, size);
}
void* wrong_at_large(void* to, const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    if (size > 4 << 20) static_cast<char*>(to)[size / 2] ^= 1;
    return to;
}
void* writes_behind(void* to, const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    static_cast<char*>(to)[size + 63] = 0;
    return to;
}
void* writes_before(void* to, const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    static_cast<char*>(to)[-1] = 0;
    return to;
}
void* writes_to_its_source(void* to, const void* from, std::size_t size) {
    char* source = static_cast<char*>(const_cast<void*>(from));
    if (size == 200) source[0] = static_cast<char>(source[0] + 1);
    return std::memcpy(to, from, size);
}
void* returns_the_end(void* to, const void* from, std::size_t size) {
    return static_cast<char*>(std::memcpy(to, from, size)) + size;
}
void* not_below_32_kib(void* to, const void* from, std::size_t size) {
    if (size < 32768) std::abort();
    return std::memcpy(to, from, size);
}
void* moves_right(void* to, const void* from, std::size_t size) {
    return std::memmove(to, from, size);
}
void* moves_upwards_only(void* to, const void* from, std::size_t size) {
    auto* bytes = static_cast<volatile char*>(to);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<const char*>(from)[i];
    return to;
}
void* hangs(void* to, const void*, std::size_t) {
    for (;;) pause();
    return to;
}
void* leaves(void* to, const void*, std::size_t) {
    _exit(0);
    return to;
}

} // namespace

TEST(FaultOf, is_none_of_a_right_copy) {
    EXPECT_EQ(fault<right>(), "");
}

TEST(FaultOf, names_what_is_wrong) {
    EXPECT_EQ(fault<wrong_at_large>().rfind("wrong byte 2621440 of 5242880 (", 0), 0u);
    EXPECT_EQ(fault<writes_behind>(), "stray write at byte 63 of 0 (source +0, destination +0)");
    EXPECT_EQ(fault<writes_before>(), "stray write at byte -1 of 0 (source +0, destination +0)");
    EXPECT_EQ(fault<writes_to_its_source>(), "writes to its source");
    EXPECT_EQ(fault<returns_the_end>().rfind("wrong return value, copy 0 of 1 (", 0), 0u);
}

TEST(FaultOf, names_how_a_copy_breaks) {
    EXPECT_EQ(fault<not_below_32_kib>(), "died: Aborted");
    EXPECT_EQ(fault<hangs>(0, 0.05), "still runs after 0.05 s of checking");
    EXPECT_EQ(fault<leaves>(), "ends the process that calls it");
}

TEST(FaultOf, tries_no_copies_below_the_least) {
    EXPECT_EQ(fault<not_below_32_kib>(32768), "");
}

TEST(FaultOf, tries_buffers_that_overlap_where_they_may) {
    EXPECT_EQ(fault<moves_right>(0, 60, true), "");
    EXPECT_EQ(fault<moves_upwards_only>(), "");
    EXPECT_EQ(fault<moves_upwards_only>(0, 60, true), "moves 7 bytes by 1 up wrong");
}

TEST(FaultOf, is_what_the_finder_says) {
    EXPECT_EQ(fault_of(
                  [](std::string& reason) -> CopyFunction {
                      reason = "not found";
                      return nullptr;
                  },
                  0),
              "not found");
}
