// The workloads of small copies: those at the ends of pages, and rules for all of them.
#include <csignal>
#include <sys/mman.h>

#include "space/space.hpp"
#include "support/kinds.hpp"
#include "timing/made_calls.hpp"

namespace {

const PageEnds& page_ends_of(Stopwatch& stopwatch) {
    stopwatch.prepare(Workload::page_end);
    return *stopwatch.buffers().page_ends;
}

/// Which stretch of a side a call lies in, and how many bytes of it are left behind the call.
std::pair<std::size_t, std::size_t> place_in(const PageEnds& ends, const char* first_stretch,
                                             const char* at, std::size_t bytes) {
    const auto offset = static_cast<std::size_t>(at - first_stretch);
    const std::size_t end = offset % ends.stride() + bytes;
    EXPECT_LE(end, ends.stretch_bytes());
    return {offset / ends.stride(), ends.stretch_bytes() - end};
}

/// Whether every stretch is touched, and no page behind one.
bool only_stretches_are_there(const PageEnds& ends) {
    const std::size_t bytes = 2 * PageEnds::kStretches * ends.stride();
    const std::size_t pages = ends.stride() / page_size();
    std::vector<unsigned char> there(bytes / page_size());
    EXPECT_EQ(mincore(const_cast<char*>(ends.source()), bytes, there.data()), 0);
    for (std::size_t i = 0; i < there.size(); ++i) {
        if ((there[i] & 1) != (i % pages < pages - 1)) return false;
    }
    return true;
}

} // namespace

TEST_F(Mix, ends_every_other_source_and_every_other_copy_with_the_page) {
    Stopwatch stopwatch = make();
    const PageEnds& ends = page_ends_of(stopwatch);
    for (const Workload workload : {Workload::page_end, Workload::page_end_read}) {
        std::set<std::size_t> sources, destinations, left;
        std::size_t at_source = 0, count = 0, empty = 0;
        for (int i = 0; i < 10; ++i) {
            for (const Call& call : sample(stopwatch, workload)) {
                const auto from = place_in(ends, ends.source(), call.source, call.bytes);
                const auto to = place_in(ends, ends.destination(), call.destination, call.bytes);
                ASSERT_LT(std::max(from.first, to.first), PageEnds::kStretches);
                ASSERT_NE(from.second < 64, to.second < 64);
                at_source += from.second < 64;
                empty += call.bytes == 0;
                sources.insert(from.first);
                destinations.insert(to.first);
                left.insert(std::min(from.second, to.second));
                ++count;
            }
        }
        EXPECT_NEAR(static_cast<double>(at_source) / static_cast<double>(count), 0.5, 0.05);
        EXPECT_EQ(sources.size(), PageEnds::kStretches);
        EXPECT_EQ(destinations.size(), PageEnds::kStretches);
        EXPECT_EQ(left.size(), 64u);
        EXPECT_GT(empty, 0u) << "copies of nothing stand there, too";
    }
}

// Or the timing would make the situation go away.
TEST_F(Mix, touches_no_page_behind_a_page_end_with_any_copy) {
    const auto space = copies_of(kSmallCopies, granted_features(read_cpu()));
    const asterope_candidate large = variants(asterope_copies)[0].copy;
    Stopwatch stopwatch = make();
    ASSERT_TRUE(only_stretches_are_there(page_ends_of(stopwatch)));
    for (const Workload workload : {Workload::page_end, Workload::page_end_read}) {
        stopwatch.time({libc_copy()}, workload, 0, 0);
        for (const asterope_copy* copy : space) {
            EXPECT_GT(stopwatch.time(small_copy(copy->small, 0, large), workload, 0, 0), 0);
        }
    }
    EXPECT_TRUE(only_stretches_are_there(page_ends_of(stopwatch)));
}

TEST(PageEndsOf, any_length_are_whole_pages_in_front_of_one_that_is_untouched_or_forbidden) {
    for (const std::size_t bytes : {std::size_t{1}, page_size(), page_size() + 1}) {
        const PageEnds ends(bytes);
        EXPECT_EQ(ends.stretch_bytes(), bytes > page_size() ? 2 * page_size() : page_size());
        EXPECT_TRUE(only_stretches_are_there(ends));
        for (std::size_t i = 0; i < PageEnds::kStretches; ++i) {
            char* behind = ends.destination() + i * ends.stride() + ends.stretch_bytes();
            const auto touch = [&] {
                *behind = 1;
                std::_Exit(only_stretches_are_there(ends));
            };
            if (i % 2 == 0) {
                EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGSEGV), "");
            } else {
                EXPECT_EXIT(touch(), ::testing::ExitedWithCode(0), "") << "it is seen";
            }
        }
    }
}

TEST_F(Mix, makes_as_many_calls_as_it_says_and_some_to_warm_up_and_of_sets_the_same) {
    const asterope_candidate large = variants(asterope_copies)[1].copy;
    // Each stopwatch has page ends of its own.
    const auto place = [&](Stopwatch& stopwatch, Workload workload, const Call& call) {
        const bool at_end = workload == Workload::page_end || workload == Workload::page_end_read;
        return call.destination -
               (at_end ? page_ends_of(stopwatch).destination() : arena.destination());
    };
    for (const Workload workload : kOfSmallCopies) {
        SCOPED_TRACE(name_of(workload));
        Stopwatch of_copies = make(), of_sets = make();
        const auto made = [&](Stopwatch& stopwatch, Operation operation) {
            const TimedCopy one = small_copy(remember_small, 1920, large, "", operation);
            calls_of(stopwatch, one, workload, 0, 3); // the first has untimed ones before it
            last_large = nullptr;
            EXPECT_EQ(calls_of(stopwatch, one, workload, 0, 3).back().distance, 1920u);
            EXPECT_EQ(last_large, large);
            return calls;
        };
        const std::vector<Call> copies = made(of_copies, Operation::copy);
        EXPECT_GT(copies.size(), fixed_calls(workload));
        EXPECT_LT(copies.size(), fixed_calls(workload) * 5 / 4);
        ASSERT_EQ(made(of_sets, Operation::set).size(), copies.size());
        for (std::size_t i = 0; i < calls.size(); ++i) {
            ASSERT_EQ(calls[i].bytes, copies[i].bytes);
            ASSERT_EQ(place(of_sets, workload, calls[i]), place(of_copies, workload, copies[i]));
            ASSERT_EQ(calls[i].source, nullptr);
        }
    }
}

TEST_F(Mix, reads_the_copies_where_it_says_so) {
    Stopwatch stopwatch = make();
    const PageEnds& ends = page_ends_of(stopwatch);
    // What copies nothing writes nothing: what touches the destination now reads it, and dies. The
    // first sample of a round reads from all memory.
    const auto run = [&](Workload workload) {
        sample(stopwatch, workload);
        mprotect(arena.destination(), arena.bytes(), PROT_NONE);
        mprotect(ends.destination(), PageEnds::kStretches * ends.stride(), PROT_NONE);
        sample(stopwatch, workload);
        std::_Exit(0);
    };
    for (const Workload workload : kOfSmallCopies) {
        if (facts_of(workload).reads) {
            EXPECT_EXIT(run(workload), ::testing::KilledBySignal(SIGSEGV), "");
        } else {
            EXPECT_EXIT(run(workload), ::testing::ExitedWithCode(0), "") << name_of(workload);
        }
    }
}

// What copies nothing reads nothing either.
TEST_F(Mix, meets_the_pages_of_both_sides_before_the_first_calls_in_memory) {
    Stopwatch stopwatch = make();
    const std::size_t last = arena.bytes() - 32 * kKiB;
    const auto run = [&](Workload workload, const char* side) {
        mprotect(const_cast<char*>(side) + last, kPage, PROT_NONE);
        sample(stopwatch, workload);
        std::_Exit(0);
    };
    for (const char* side : {arena.source(), static_cast<const char*>(arena.destination())}) {
        EXPECT_EXIT(run(Workload::mix_memory, side), ::testing::KilledBySignal(SIGSEGV), "");
        EXPECT_EXIT(run(Workload::mix_l3, side), ::testing::ExitedWithCode(0), "");
    }
}
