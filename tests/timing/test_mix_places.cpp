// The workloads of small copies: by the ends of pages, and what holds of all of them.
#include "timing/stopwatch.hpp"

#include <csignal>
#include <set>
#include <sys/mman.h>

#include "machine/cpu.hpp"
#include "support/kinds.hpp"
#include "timing/mixed_calls.hpp"

namespace {

/// Which stretch of a side a call lies in, and how many bytes of it are left behind the call.
struct Place {
    std::size_t stretch, left;
};

Place place_in(const PageEnds& ends, const char* first_stretch, const char* at, std::size_t bytes) {
    const auto offset = static_cast<std::size_t>(at - first_stretch);
    const std::size_t inside = offset % ends.stride();
    EXPECT_LE(inside + bytes, ends.stretch_bytes());
    return {offset / ends.stride(), ends.stretch_bytes() - inside - bytes};
}

std::vector<bool> pages_there(const PageEnds& ends) {
    const std::size_t bytes = 2 * PageEnds::kStretches * ends.stride();
    std::vector<unsigned char> there(bytes / page_size());
    EXPECT_EQ(mincore(const_cast<char*>(ends.source()), bytes, there.data()), 0);
    std::vector<bool> result;
    for (const unsigned char flag : there) result.push_back(flag & 1);
    return result;
}

/// Of stretches that are touched and pages behind them that are not.
std::vector<bool> only_stretches_there(const PageEnds& ends) {
    std::vector<bool> there(2 * PageEnds::kStretches * ends.stride() / page_size(), true);
    const std::size_t pages = ends.stride() / page_size();
    for (std::size_t i = pages - 1; i < there.size(); i += pages) there[i] = false;
    return there;
}

} // namespace

TEST_F(Mix, ends_every_other_source_and_every_other_copy_with_the_page) {
    Stopwatch stopwatch = of_the_fleet();
    const PageEnds& ends = page_ends_of(stopwatch);
    for (const Workload workload : kPageEnd) {
        std::set<std::size_t> sources, destinations, left;
        std::size_t at_source = 0, count = 0, empty = 0;
        for (int i = 0; i < 10; ++i) {
            for (const Call& call : trial(stopwatch, workload)) {
                const Place from = place_in(ends, ends.source(), call.source, call.bytes);
                const Place to = place_in(ends, ends.destination(), call.destination, call.bytes);
                ASSERT_LT(from.stretch, PageEnds::kStretches);
                ASSERT_LT(to.stretch, PageEnds::kStretches);
                ASSERT_NE(from.left < 64, to.left < 64);
                at_source += from.left < 64;
                empty += call.bytes == 0;
                sources.insert(from.stretch);
                destinations.insert(to.stretch);
                left.insert(std::min(from.left, to.left));
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
    const Cpu cpu = read_cpu();
    const auto space = copies_of(
        kSmallCopies, [&](std::string_view feature) { return has_feature(cpu, feature); });
    const asterope_candidate large = variants(asterope_copies)[0].copy;
    Stopwatch stopwatch = of_the_fleet();
    ASSERT_EQ(pages_there(page_ends_of(stopwatch)), only_stretches_there(page_ends_of(stopwatch)));
    for (const Workload workload : kPageEnd) {
        stopwatch.time({libc_copy()}, workload, 0, 0);
        for (const asterope_copy* copy : space) {
            EXPECT_GT(stopwatch.time(small_copy(copy->small, 0, large), workload, 0, 0), 0);
        }
    }
    EXPECT_EQ(pages_there(page_ends_of(stopwatch)), only_stretches_there(page_ends_of(stopwatch)));
}

TEST(PageEndsOf, any_length_are_whole_pages_in_front_of_one_that_is_untouched_or_forbidden) {
    for (const std::size_t bytes : {std::size_t{1}, page_size(), page_size() + 1}) {
        const PageEnds ends(bytes);
        EXPECT_EQ(ends.stretch_bytes(), bytes > page_size() ? 2 * page_size() : page_size());
        EXPECT_EQ(pages_there(ends), only_stretches_there(ends));
        for (std::size_t i = 0; i < PageEnds::kStretches; ++i) {
            char* behind = ends.destination() + i * ends.stride() + ends.stretch_bytes();
            const auto touch = [&] {
                *behind = 1;
                std::_Exit(pages_there(ends) == only_stretches_there(ends) ? 1 : 0);
            };
            if (i % 2 == 0) {
                EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGSEGV), "");
            } else {
                EXPECT_EXIT(touch(), ::testing::ExitedWithCode(0), "") << "it is seen";
            }
        }
    }
}

TEST_F(Mix, makes_as_many_calls_as_it_says_and_some_to_warm_up_with_distance_and_large_copy) {
    Stopwatch stopwatch = of_the_fleet();
    const asterope_candidate large = variants(asterope_copies)[1].copy;
    for (const auto& workloads : {kMix, kFixed, kFixedWalk, kPageEnd}) {
        for (const Workload workload : workloads) {
            calls.clear();
            last_large = nullptr;
            stopwatch.time(small_copy(remember_small, 1920, large), workload, 0, 0);
            EXPECT_GT(calls.size(), fixed_calls(workload));
            EXPECT_LT(calls.size(), fixed_calls(workload) * 5 / 4);
            EXPECT_EQ(calls.back().distance, 1920u);
            EXPECT_EQ(last_large, large);
        }
    }
}

TEST_F(Mix, makes_the_same_calls_of_a_set_with_zero_for_the_source) {
    const asterope_candidate large = variants(asterope_copies)[1].copy;
    const TimedCopy set = small_copy(remember_small, 1920, large, "", Operation::set);
    // Each stopwatch has page ends of its own.
    const auto place = [&](Stopwatch& stopwatch, Workload workload, const Call& call) {
        const bool at_end = workload == Workload::page_end || workload == Workload::page_end_read;
        return call.destination -
               (at_end ? page_ends_of(stopwatch).destination() : arena.destination());
    };
    for (const auto& workloads : {kMix, kFixed, kFixedWalk, kPageEnd}) {
        for (const Workload workload : workloads) {
            Stopwatch of_copies = of_the_fleet(), of_sets = of_the_fleet();
            const std::vector<Call> copies = trial(of_copies, workload, 3);
            calls.clear();
            of_sets.time(set, workload, 0, 3);
            ASSERT_EQ(calls.size(), copies.size());
            for (std::size_t i = 0; i < calls.size(); ++i) {
                ASSERT_EQ(calls[i].bytes, copies[i].bytes) << name_of(workload);
                ASSERT_EQ(place(of_sets, workload, calls[i]), place(of_copies, workload, copies[i]))
                    << name_of(workload);
                ASSERT_EQ(calls[i].source, nullptr);
            }
            EXPECT_EQ(calls.back().distance, 1920u);
            EXPECT_EQ(last_large, large);
        }
    }
}

TEST_F(Mix, reads_the_copies_where_it_says_so) {
    Stopwatch stopwatch = of_the_fleet();
    const PageEnds& ends = page_ends_of(stopwatch);
    // What copies nothing writes nothing: what touches the destination now reads it, and dies.
    const auto run = [&](Workload workload) {
        mprotect(arena.destination(), arena.bytes(), PROT_NONE);
        mprotect(ends.destination(), PageEnds::kStretches * ends.stride(), PROT_NONE);
        stopwatch.time(kRemember, workload, 0, 0);
        std::_Exit(0);
    };
    for (const WorkloadFacts& facts : kWorkloads) {
        if (facts.family != WorkloadFamily::small_copies) continue;
        const Workload workload = *find_workload(facts.name);
        if (facts.reads) {
            EXPECT_EXIT(run(workload), ::testing::KilledBySignal(SIGSEGV), "") << facts.name;
        } else {
            EXPECT_EXIT(run(workload), ::testing::ExitedWithCode(0), "") << facts.name;
        }
    }
}
