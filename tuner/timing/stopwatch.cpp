// Calls the timer of the workload, after it has calibrated the calls and settled the caches.
#include "timing/stopwatch.hpp"

#include <algorithm>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "base/error.hpp"
#include "machine/cpu.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

const WorkloadTimer& timer_of(Workload workload) {
    static constexpr const WorkloadTimer* kTimers[] = {
#define ASTEROPE_WORKLOAD(name, timer, ...) &workloads::timer,
#include "timing/workload_rows.inc"
#undef ASTEROPE_WORKLOAD
    };
    return *kTimers[static_cast<std::size_t>(workload)];
}

constexpr std::size_t kStep = std::size_t{64} << 10, kDepths = 16;

/// Throws Failure where the stack may not grow as far: it would end as a fault of the routine's.
void require_stack() {
    constexpr rlim_t kNeeded = kStep * kDepths + (256 << 10);
    rlimit stack{};
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kNeeded) return;
    throw Failure("the stack may take " + std::to_string(stack.rlim_cur >> 10) +
                  " KiB, and timing needs more: ulimit -s 2048");
}

/// Takes a sample deeper in the stack, for each of 16 workloads at another depth. Routines remember
/// what call sites do, by return address and by stack in steps of 64 KiB. All workloads call from
/// few places in this code; a program mostly has one of them.
[[gnu::noinline]] double take_sample(Buffers& buffers, Workload workload, const SampleTask& task) {
    const std::size_t bytes = (static_cast<std::size_t>(workload) % kDepths + 1) * kStep;
    volatile char* const own = static_cast<volatile char*>(__builtin_alloca(bytes));
    own[0] = 0; // or the compiler would leave it out
    const double seconds = timer_of(workload).time(buffers, facts_of(workload), task);
    own[0] = 1; // no tail call
    return seconds;
}

/// The workload that gives a workload its number of calls. Aliasing buffers have that of hot ones:
/// libc must not decide there, as it can be 30 times slower (rep movsb on AMD's Zen 4).
Workload calibrated_as(Workload workload) {
    return workload == Workload::aliased ? Workload::hot : workload;
}

} // namespace

std::size_t calls_to_choose(Workload workload, std::size_t size) {
    const WorkloadFacts& facts = facts_of(workload);
    const bool heeded = size >= kSensingMinimum && size < kHeededBelow;
    const bool lands_uncached = !facts.destination_cached && !facts.fresh;
    return heeded && lands_uncached && facts.family == WorkloadFamily::one_size ? 24 : 0;
}

std::size_t fixed_calls(Workload workload) {
    const WorkloadTimer& timer = timer_of(workload);
    return timer.calls ? timer.calls(facts_of(workload)) : 0;
}

Stopwatch::Stopwatch(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes,
                     SmallCalls small, Operation operation)
    : buffers_(arena, largest_size, cache_bytes, std::move(small)), operation_(operation) {
    require_stack();
}

void Stopwatch::calibrate(std::size_t size, Workload workload, double target_seconds) {
    workload = calibrated_as(workload);
    const bool moves = facts_of(workload).family == WorkloadFamily::overlapping;
    TimedCopy libc{.function = moves ? libc_move() : libc_of(operation_)};
    libc.operation = operation_;
    const std::size_t fixed = fixed_calls(workload);
    for (std::size_t calls = std::max<std::size_t>(1, fixed);;) {
        calibrations_[{size, workload}] = {calls, 0};
        std::vector<double> tries;
        for (std::uint64_t round = 0; round < 5; ++round) {
            tries.push_back(time(libc, workload, size, round));
        }
        // The least counts: a disturbance may have hit most tries of one call. To a coarse counter
        // samples as short as that would take no time. A picosecond stands where the counter did
        // not move.
        const double seconds = std::max(1e-12, *std::ranges::min_element(tries));
        const auto wanted =
            fixed ? fixed : static_cast<std::size_t>(std::max(1.0, target_seconds / seconds));
        if (calls >= wanted / 2) { // long enough a sample to believe it
            calibrations_[{size, workload}] = {wanted, seconds};
            return;
        }
        calls = std::min(calls * 16, wanted);
    }
}

Calibration Stopwatch::calibration(std::size_t size, Workload workload) const {
    const auto found = calibrations_.find({size, calibrated_as(workload)});
    if (found != calibrations_.end()) return found->second;
    if (const std::size_t fixed = fixed_calls(workload)) return {fixed, 0};
    return calibrations_.at({size, workload});
}

void Stopwatch::set_calibration(std::size_t size, Workload workload,
                                const Calibration& calibration) {
    calibrations_[{size, calibrated_as(workload)}] = calibration;
}

bool Stopwatch::prepare(Workload workload) {
    const WorkloadTimer& timer = timer_of(workload);
    return !timer.prepare || timer.prepare(buffers_, facts_of(workload));
}

void Stopwatch::touch_arena() {
    // A host took 300 huge pages of 1,280 away within a second, used or not. Giving one back took
    // it 130 us: cold calls of 128 bytes took 65 us each behind a pause.
    const auto now = std::chrono::steady_clock::now();
    if (now - touched_ <= std::chrono::milliseconds(20)) return;
    buffers_.arena.touch();
    touched_ = now;
}

void Stopwatch::settle(const TimedCopy& copy, Workload workload, std::size_t size,
                       std::uint64_t round) {
    const bool of_one_size = facts_of(workload).family == WorkloadFamily::one_size;
    const bool uncached =
        of_one_size && (is_uncached(workload) || outgrows(size, buffers_.cache_bytes));
    if (uncached) touch_arena();
    if (uncached && size >= kSettledFrom && cache_effect_ != copy.cache_effect) {
        const std::size_t calls = settling_bytes_of_sample(buffers_.cache_bytes) / size + 1;
        const auto own = facts_of(workload).settles ? workload : Workload::cold;
        take_sample(buffers_, own, {copy, size, round, {calls, 0}});
    }
    cache_effect_ = uncached ? std::optional(copy.cache_effect) : std::nullopt;
}

void Stopwatch::settle_pages(const TimedCopy& copy, Workload workload, std::size_t size,
                             std::uint64_t round) {
    if (!facts_of(workload).fresh || size < kPagesSettledFrom) return;
    if (fresh_ == std::tuple(workload, size, copy.pages)) return;
    fresh_.emplace(workload, size, copy.pages);
    take_sample(buffers_, workload, {copy, size, round, {1, 0}});
}

double Stopwatch::time(const TimedCopy& copy, Workload workload, std::size_t size,
                       std::uint64_t round) {
    const Left left{workload, size, round, copy.cache_effect};
    // A copy that looks where its data is leaves the caches in a state that we do not know. Copies
    // that mixes of small sizes call do not look.
    const bool known = !copy.chooses || size == 0;
    const SampleTask task{copy, size, round, calibration(size, workload), known && left_ == left};
    left_ = known ? std::optional(left) : std::nullopt;
    // Earlier code may have left upper register halves dirty, which slows others down.
    clean_vector_state();
    settle(copy, workload, size, round);
    settle_pages(copy, workload, size, round);
    const std::size_t before = copy.chooses ? calls_to_choose(workload, size) : 0;
    if (before) take_sample(buffers_, workload, {copy, size, round, {before, 0}});
    return take_sample(buffers_, workload, task);
}

} // namespace asterope
