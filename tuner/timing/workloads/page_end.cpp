// The workloads page_end and page_end_read: calls as in the mixes, at so few places that the first
// cache holds them. One side of each call ends 0 to 63 bytes before the end of a page. The page
// behind it may not be touched (PageEnds). That side is the source or the destination at random. A
// masked move may reach into such a page with its masked-off part. It copies right, but takes
// hundreds of cycles or thousands.
#include "base/random.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// Calls in one sample, untimed ones included. Fewer than of a mix, as they may be a hundred times
/// as slow as others.
constexpr std::size_t kEndCalls = 1600, kUntimedEnds = kEndCalls / 8;
/// The other side of a call, which is not at the end, begins at most so far into a stretch. So the
/// working set stays in the first cache.
constexpr std::size_t kInside = 1024;
constexpr std::size_t kLine = 64;
constexpr int kPlace = 0; ///< among Buffers::sequences; mixes begin with 1

CallSequence draw(const PageEnds& ends, const SmallCalls& small, std::mt19937_64& random) {
    CallSequence sequence;
    sequence.source = ends.source();
    sequence.destination = ends.destination();
    sequence.warm = kUntimedEnds;
    sequence.timed = kEndCalls - kUntimedEnds;
    const auto sizes = small.statistics.sizes.up_to(small.largest);
    const auto stretch = [&] { return random() % PageEnds::kStretches * ends.stride(); };
    sequence.fill([&]() -> CallSequence::Call {
        const std::size_t size = sizes->draw(random);
        const std::size_t left = random() % kLine; // between the copy's end and the page's
        const std::size_t at_end = stretch() + ends.stretch_bytes() - left - size;
        const std::size_t inside = stretch() + random() % kInside;
        const bool source = random() % 2 == 0;
        return {static_cast<std::uint32_t>(size),
                static_cast<std::uint32_t>(source ? at_end : inside),
                static_cast<std::uint32_t>(source ? inside : at_end)};
    });
    return sequence;
}

/// Drawn at their first use.
CallSequence& sequence_of(Buffers& buffers) {
    CallSequence& sequence = buffers.sequences[kPlace];
    if (sequence.calls.empty()) {
        const PageEnds& ends = buffers.page_ends.emplace(kInside + buffers.small.largest + kLine);
        std::mt19937_64 random = named_random(buffers.small.seed, "page_end");
        sequence = draw(ends, buffers.small, random);
    }
    return sequence;
}

double time_page_end(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    return time_sequence(sequence_of(buffers), task.copy, Weighting::calls, facts.reads);
}

bool has_page_ends(Buffers& buffers, const WorkloadFacts&) {
    // the ends of few large copies say nothing
    return buffers.small.weighting == Weighting::calls && !sequence_of(buffers).calls.empty();
}

} // namespace

const WorkloadTimer workloads::page_end = {
    time_page_end, [](const WorkloadFacts&) { return kEndCalls - kUntimedEnds; }, has_page_ends};

} // namespace asterope
