// A copy of unknown origin must copy right to be timed. The detection of wrong bytes and stray
// writes is tested with the candidates (tests/space/test_verify.cpp).
#include "timing/correctness.hpp"

#include <unistd.h>

#include "space/spoiled_copies.hpp"
#include "support/unit_test.hpp"

namespace {

std::string fault(CopyFunction copy, double seconds = 60, bool moves = false) {
    return fault_of([=](std::string&) { return copy; }, Operation::copy, moves, seconds);
}

} // namespace

TEST(FaultOf, names_what_is_wrong_and_how_a_copy_breaks) {
    const std::pair<CopyFunction, const char*> cases[] = {
        {spoiled<[](Asked a) { a.to[a.bytes / 2] ^= 4 << 20 < a.bytes; }>,
         "wrong byte 2621440 of 5242880 (source +0, destination +0)"},
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
    EXPECT_EQ(fault(spoiled<[](Asked) { pause(); }>, 0.05), "still runs after 0.05 s of checking");
}

TEST(FaultOf, tries_buffers_that_overlap_where_they_may) {
    EXPECT_EQ(fault(good, 60, true), "");
    EXPECT_EQ(fault(copy_upwards), "");
    EXPECT_EQ(fault(copy_upwards, 60, true), "moves 7 bytes wrong (source +0, by 1)");
}
