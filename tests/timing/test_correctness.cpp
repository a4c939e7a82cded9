// What a copy of unknown origin must do to be timed. Which wrong bytes and stray writes are found
// is tested with the candidates (tests/space/test_verify.cpp).
#include "timing/correctness.hpp"

#include <cstdlib>
#include <unistd.h>

#include "space/spoiled_copies.hpp"
#include "support/unit_test.hpp"

namespace {

std::string fault(CopyFunction copy, double seconds = 60, bool moves = false,
                  Operation operation = Operation::copy) {
    return fault_of([=](std::string&) { return copy; }, seconds, moves, operation);
}

/// As a broadcast of the whole int does.
void* sets_all_of_the_int(void* destination, const void* value, std::size_t bytes, std::size_t) {
    const auto word = reinterpret_cast<std::uintptr_t>(value);
    auto* to = static_cast<char*>(destination);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<char>(word >> (8 * (i % 4)));
    return to;
}

} // namespace

TEST(FaultOf, names_what_is_wrong_and_how_a_copy_breaks) {
    EXPECT_EQ(fault(good), "");
    EXPECT_EQ(fault(spoiled<[](Asked a) {
                  if (4 << 20 < a.bytes) a.to[a.bytes / 2] ^= 1;
              }>).rfind("wrong byte 2621440 of 5242880 (", 0),
              0u);
    EXPECT_EQ(fault(sets_all_of_the_int, 60, false, Operation::set),
              "wrong byte 1 of 2 (value 0, destination +0)");
    const std::pair<CopyFunction, const char*> cases[] = {
        {spoiled<[](Asked a) {
             if (a.bytes == 200) *a.to = ++const_cast<char&>(*a.from);
         }>,
         "writes to its source"},
        {spoiled<[](Asked a) { 100 < a.bytes ? std::abort() : void(); }>, "died: Aborted"},
        {spoiled<[](Asked) { _exit(0); }>, "ends the process that calls it"},
        {spoiled<[](Asked) { // the other goes on with the check, as its parent does
             static const pid_t other = fork();
             static_cast<void>(other);
         }>,
         "starts other processes"},
    };
    for (const auto& [copy, said] : cases) EXPECT_EQ(fault(copy), said);
    EXPECT_EQ(fault(spoiled<[](Asked) {
                        for (;;) pause();
                    }>,
                    0.05),
              "still runs after 0.05 s of checking");
}

TEST(FaultOf, tries_buffers_that_overlap_where_they_may) {
    EXPECT_EQ(fault(good, 60, true), "");
    EXPECT_EQ(fault(copy_upwards), "");
    EXPECT_EQ(fault(copy_upwards, 60, true), "moves 7 bytes wrong (source +0, by 1)");
}
