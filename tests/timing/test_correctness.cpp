// What a copy of unknown origin must do to be timed. Which wrong bytes and stray writes are found
// is tested with the candidates (tests/space/test_verify.cpp).
#include "timing/correctness.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace asterope;

namespace {

template <auto copy>
std::string fault(double seconds = 60, bool moves = false, Operation operation = Operation::copy) {
    return fault_of(
        [](std::string&) -> CopyFunction {
            return [](void* to, const void* from, std::size_t size, std::size_t) -> void* {
                return copy(static_cast<char*>(to), static_cast<const char*>(from), size);
            };
        },
        seconds, moves, operation);
}

char* right(char* to, const char* from, std::size_t size) {
    std::memmove(to, from, size);
    return to;
}
char* wrong_at_large(char* to, const char* from, std::size_t size) {
    right(to, from, size);
    if (size > 4 << 20) to[size / 2] ^= 1;
    return to;
}
char* writes_to_its_source(char* to, const char* from, std::size_t size) {
    if (size == 200) ++*const_cast<char*>(from);
    return right(to, from, size);
}
char* aborts(char* to, const char* from, std::size_t size) {
    if (size > 100) std::abort();
    return right(to, from, size);
}
char* moves_upwards_only(char* to, const char* from, std::size_t size) {
    auto* bytes = static_cast<volatile char*>(to);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = from[i];
    return to;
}
char* hangs(char*, const char*, std::size_t) {
    for (;;) pause();
}
char* forks(char* to, const char* from, std::size_t size) {
    static const pid_t other = fork(); // which goes on with the check, as its parent does
    static_cast<void>(other);
    return right(to, from, size);
}
/// As a broadcast of the whole int does.
char* sets_all_of_the_int(char* to, const char* value, std::size_t size) {
    const auto word = reinterpret_cast<std::uintptr_t>(value);
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<char>(word >> (8 * (i % 4)));
    return to;
}
char* leaves(char* to, const char*, std::size_t) {
    _exit(0);
    return to;
}

} // namespace

TEST(FaultOf, names_what_is_wrong_and_how_a_copy_breaks) {
    EXPECT_EQ(fault<right>(), "");
    EXPECT_EQ(fault<wrong_at_large>().rfind("wrong byte 2621440 of 5242880 (", 0), 0u);
    EXPECT_EQ(fault<writes_to_its_source>(), "writes to its source");
    EXPECT_EQ(fault<aborts>(), "died: Aborted");
    EXPECT_EQ(fault<hangs>(0.05), "still runs after 0.05 s of checking");
    EXPECT_EQ(fault<leaves>(), "ends the process that calls it");
    EXPECT_EQ(fault<forks>(), "starts other processes");
}

TEST(FaultOf, tries_buffers_that_overlap_where_they_may) {
    EXPECT_EQ(fault<right>(60, true), "");
    EXPECT_EQ(fault<moves_upwards_only>(), "");
    EXPECT_EQ(fault<moves_upwards_only>(60, true), "moves 7 bytes wrong (source +0, by 1)");
}

TEST(FaultOf, names_what_is_wrong_with_a_set) {
    EXPECT_EQ(fault<sets_all_of_the_int>(60, false, Operation::set),
              "wrong byte 1 of 2 (value 0, destination +0)");
}
