// Workloads: what surrounds a copy when it is timed, and the timing itself.
#include "timing/workload.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "machine/cpu.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/libc_copy.hpp"

namespace asterope {

namespace {

/// Cold slots of small copies stand at least this many lines apart, beyond what adjacent-line and
/// page-local prefetchers fetch along.
constexpr std::size_t kLeastLines = 17;

/// Whose number of calls a workload has. Aliasing buffers have the hot ones': libc must not decide
/// there, as it can be 30 times slower (rep movsb on AMD's Zen 4).
Workload calibrated_as(Workload workload) {
    return workload == Workload::aliased ? Workload::hot : workload;
}

/// The most that is copied until the caches are settled: machines report last caches of which a
/// process gets a part only.
constexpr std::size_t kMostSettling = std::size_t{64} << 20;

/// Whether a call meets memory on either side: what slots are for.
bool is_uncached(Workload workload) {
    return workload == Workload::cold || workload == Workload::consume ||
           workload == Workload::produce || workload == Workload::fetch ||
           workload == Workload::fresh;
}

/// Untimed calls before a hot trial. What another copy left in the caches (a destination that its
/// non-temporal stores evicted) takes up to three copies to be gone. Buffers that outgrow the
/// caches are not in them however often they are copied.
constexpr std::size_t kWarmUp = 3;

/// A copy that takes so much longer than libc's in its untimed calls gets as few timed ones. At 1
/// KiB non-temporal stores take 200 times as long where all is cached, half of the space has them,
/// and the last digits of hopeless figures interest nobody.
constexpr double kHopeless = 8;

/// What the sources of a group of produce take together, at most: half of a small first cache, as
/// the destinations' lines come to stay there too.
constexpr std::size_t kGroupBytes = std::size_t{16} << 10;

/// Calls in a group, at most: the pages of so many sources fit in the first level of every TLB.
/// Even of 128 bytes, so many copies take a microsecond.
constexpr std::size_t kGroupCalls = 32;

/// The most that the sources of a group spread over: each may begin anywhere in its first page.
constexpr std::size_t kGroupRoom = kGroupCalls * 2 * 4096;

/// What is mapped for a group of fresh, if that is enough for one call: mapping and unmapping,
/// which no figure has, take as long as a few page faults.
constexpr std::size_t kFreshBytes = std::size_t{256} << 10;

struct Text {
    std::string_view name, description;
};

/// In the order of Workload.
constexpr Text kTexts[] = {
    {"hot", "the same buffers again and again, both sides cached"},
    {"hot_read", "as hot, and each copy is read at once (timed along)"},
    {"cold", "neither side in any cache"},
    {"consume", "as cold, and each copy is read at once (timed along)"},
    {"produce", "the source just written (not timed), the destination in no cache"},
    {"aliased", "as hot, each destination 1 to 63 bytes past its source modulo 4096"},
    {"mix_l1", "small copies of unpredictable sizes, all in the first cache"},
    {"mix_l2", "the same in the second cache"},
    {"mix_l3", "the same in the third cache"},
    {"mix_l1_read", "as mix_l1, and each copy is read at once (timed along)"},
    {"mix_l2_read", "as mix_l2, and each copy is read at once (timed along)"},
    {"mix_l3_read", "as mix_l3, and each copy is read at once (timed along)"},
    {"fixed", "one small size again and again, for each of several sizes"},
    {"fixed_read", "as fixed, and each copy is read at once (timed along)"},
    {"mix_memory", "small copies of unpredictable sizes, in no cache"},
    {"mix_memory_read", "as mix_memory, and each copy is read at once (timed along)"},
    {"fetch", "the source in no cache, the same destination again, each copy read (timed along)"},
    {"page_end", "as mix_l1, but from or to a page's end, the next page not to be touched"},
    {"page_end_read", "as page_end, and each copy is read at once (timed along)"},
    {"fresh", "the source in no cache, the destination just mapped and never touched"},
    {"overlapping", "moves within cached buffers, by 1 byte to a page up and down"},
};

} // namespace

std::string_view name_of(Workload workload) {
    return kTexts[static_cast<std::size_t>(workload)].name;
}

std::optional<Workload> find_workload(std::string_view name) {
    const auto found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                    [&](const Text& text) { return text.name == name; });
    if (found == std::end(kTexts)) return std::nullopt;
    return static_cast<Workload>(found - std::begin(kTexts));
}

std::string_view description_of(Workload workload) {
    return kTexts[static_cast<std::size_t>(workload)].description;
}

double trial_seconds(Workload workload) {
    return is_uncached(workload) ? 60e-6 : 30e-6;
}

std::size_t settling_bytes(std::size_t cache_bytes) {
    return std::min(cache_bytes + cache_bytes / 4, kMostSettling);
}

Stopwatch::Stopwatch(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes)
    : arena_(arena), cache_bytes_(cache_bytes), settle_bytes_(settling_bytes(cache_bytes)),
      cold_bytes_((arena.bytes() - std::max(largest_size + 2 * 4096, kGroupRoom)) / 4096 * 4096),
      hot_source_(arena.maps_source()
                      ? (arena.source_bytes() - source_bytes_needed(largest_size)) / 4096 * 4096
                      : cold_bytes_) {}

void Stopwatch::calibrate(std::size_t size, Workload workload, double target_seconds) {
    std::size_t calls = 1;
    workload = calibrated_as(workload);
    for (;;) {
        calibrations_[{size, workload}] = {calls, 0};
        std::vector<double> tries;
        for (std::uint64_t round = 0; round < 5; ++round) {
            tries.push_back(time(libc_copy(), 0, size, workload, round));
        }
        const double seconds = median(tries);
        const auto wanted = static_cast<std::size_t>(std::max(1.0, target_seconds / seconds));
        if (calls >= wanted / 2) { // long enough a trial to believe it
            calibrations_[{size, workload}] = {wanted, seconds};
            return;
        }
        calls = std::min(calls * 16, wanted);
    }
}

Calibration Stopwatch::calibration(std::size_t size, Workload workload) const {
    return calibrations_.at({size, calibrated_as(workload)});
}

void Stopwatch::set_calibration(std::size_t size, Workload workload,
                                const Calibration& calibration) {
    calibrations_[{size, calibrated_as(workload)}] = calibration;
}

double Stopwatch::time(CopyFunction copy, std::size_t distance, std::size_t size, Workload workload,
                       std::uint64_t round, int cache_effect) {
    const Trial trial{copy, distance, size, calls(size, workload), round};
    // What ran before may have left upper register halves dirty, which slows others down.
    clean_vector_state();
    const bool uncached = is_uncached(workload) || outgrows(size, cache_bytes_);
    if (uncached && size >= kSettledFrom && cache_effect_ != cache_effect) settle(trial);
    cache_effect_ = uncached ? std::optional(cache_effect) : std::nullopt;
    switch (workload) {
    case Workload::hot:
        return time_hot(trial, false, false);
    case Workload::hot_read:
        return time_hot(trial, true, false);
    case Workload::aliased:
        return time_hot(trial, false, true);
    case Workload::cold:
        return time_cold(trial, false);
    case Workload::consume:
        return time_cold(trial, true);
    case Workload::produce:
        return time_produce(trial);
    case Workload::fetch:
        return time_fetch(trial);
    case Workload::fresh:
        return time_fresh(trial);
    default:
        throw Failure("workload " + std::string(name_of(workload)) + " has another stopwatch");
    }
}

namespace {

/// Multiples of the golden ratio scatter best. Of 32 bits: an instruction can hold it.
constexpr std::uint32_t kGolden = 0x9E3779B9u;

Misalignment scattered_misalignment(std::uint32_t scattered) {
    return {scattered >> 26, scattered >> 20 & 63};
}

/// The hot loop: `calls` calls from the `first` one on, at least one. What an address or a length
/// comes from must stay in the registers that a call preserves, and there are six: a load of the
/// loop's that has the page offset of one of the copy's stores waits for it, and delays the next
/// copy by a dozen cycles (2 KiB: a sixth of its time). Hence a function of its own for each kind,
/// the counter and the multiple of the golden ratio in one, and its end in memory: a branch is
/// predicted, whenever it is known.
template <bool kRead, bool kAliased>
[[gnu::noinline]] std::uint64_t run_hot(CopyFunction copy, std::size_t distance, std::size_t size,
                                        char* destination, const char* source, std::uint32_t first,
                                        std::uint32_t calls) {
    const volatile std::uint32_t end = (first + calls) * kGolden;
    volatile std::uint64_t sum = 0;
    std::uint32_t scattered = first * kGolden;
    do {
        Misalignment past = scattered_misalignment(scattered);
        // 1 to 63 bytes past the source, modulo the page
        if (kAliased) past.destination = past.source + 1 + (past.destination * 63 >> 6);
        copy(destination + past.destination, source + past.source, size, distance);
        if (kRead) {
            past = scattered_misalignment(scattered);
            sum = sum + read_copy(destination + past.destination, size);
        }
        scattered += kGolden;
    } while (scattered != end);
    return sum;
}

} // namespace

Misalignment misalignment(std::uint64_t i) {
    // Computed, not looked up: a table's loads would alias the copy's stores at some page offsets
    // (a quarter of the time of a 1 KiB copy), and no copy would be to blame.
    return scattered_misalignment(static_cast<std::uint32_t>(i) * kGolden);
}

double Stopwatch::time_hot(const Trial& trial, bool read, bool aliased) {
    // Each round has its place in the page: what else the loop touches (the stack) lies at the same
    // page offset as the buffers in some rounds only.
    const std::size_t place = (trial.round * 27 % 64) * 64;
    const char* source = arena_.source() + hot_source_ + place;
    char* destination = arena_.destination() + cold_bytes_ + place + (aliased ? 0 : kPhase);
    const auto run = [&](std::size_t calls) {
        const auto loop = aliased ? run_hot<false, true>
                          : read  ? run_hot<true, false>
                                  : run_hot<false, false>;
        return loop(trial.copy, trial.distance, trial.size, destination, source,
                    static_cast<std::uint32_t>(trial.round), static_cast<std::uint32_t>(calls));
    };
    std::uint64_t sum = 0;
    std::size_t calls = trial.calls;
    if (!outgrows(trial.size, cache_bytes_)) {
        const std::size_t untimed = std::max(kWarmUp, calls / 8);
        const std::uint64_t start = ticks();
        sum = run(untimed);
        const double seconds = seconds_between(start, ticks()) / static_cast<double>(untimed);
        const double libc_seconds =
            calibration(trial.size, read ? Workload::hot_read : Workload::hot).seconds;
        if (libc_seconds > 0 && seconds > kHopeless * libc_seconds)
            calls = std::min(untimed, calls);
    }
    const std::uint64_t begin = ticks();
    sum += run(calls);
    const std::uint64_t end = ticks();
    sum_read_ += sum;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

Stopwatch::Slots::Slots(std::size_t stride, std::size_t room)
    : stride(stride), count(std::max<std::size_t>(1, room / stride)) {
    // Steps of the golden ratio scatter best; coprime to the count they visit every slot.
    step = std::max<std::size_t>(
        1, static_cast<std::size_t>(0.6180339887 * static_cast<double>(count)));
    while (std::gcd(step, count) != 1) ++step;
}

std::size_t Stopwatch::Slots::take() {
    const std::size_t at = next * stride;
    next += step;
    if (next >= count) next -= count;
    return at;
}

void Stopwatch::settle(const Trial& trial) {
    time_cold({trial.copy, trial.distance, trial.size, settle_bytes_ / trial.size + 1, trial.round},
              false);
}

Stopwatch::Sides& Stopwatch::slots(std::size_t size) {
    Sides& sides = slots_[size];
    if (sides.destination.count == 0) {
        // An odd number of lines apart: the slots then fall into all sets of every cache.
        const std::size_t lines = std::max(kLeastLines, size / 64 + 3) | 1;
        sides.destination = {lines * 64, cold_bytes_ - kPhase - 64};
        sides.source = sides.destination;
        // In a map, where the two sides' slots have other places in their pages, with room for each
        // source to be moved to its destination's place.
        if (arena_.maps_source()) sides.source = {lines * 64 + 4096, arena_.source_bytes()};
    }
    return sides;
}

double Stopwatch::time_cold(const Trial& trial, bool read) {
    Sides sides = slots(trial.size); // a copy of its own may stay in registers
    const char* source = arena_.source();
    char* destination = arena_.destination() + kPhase;
    std::uint64_t sum = 0;
    const std::uint64_t begin = ticks();
    for (std::size_t i = 0; i < trial.calls; ++i) {
        const Misalignment past = misalignment(trial.round + i);
        const std::size_t to = sides.destination.take(), slot = sides.source.take();
        const std::size_t from = slot + (to - slot) % 4096; // slot, where nothing is mapped
        char* to_here = destination + to + past.destination;
        trial.copy(to_here, source + from + past.source, trial.size, trial.distance);
        if (read) sum += read_copy(to_here, trial.size);
    }
    const std::uint64_t end = ticks();
    slots(trial.size) = sides;
    sum_read_ += sum;
    return seconds_between(begin, end) / static_cast<double>(trial.calls);
}

double Stopwatch::time_fetch(const Trial& trial) {
    Sides& sides = slots(trial.size);
    char* tail = arena_.destination() + cold_bytes_;
    std::uint64_t sum = 0;
    const auto call = [&](std::size_t i) {
        const Misalignment past = misalignment(trial.round + i);
        const std::size_t from = sides.source.take();
        sides.destination.take(); // as cold: the two sides stay side by side
        // At the source's place in the page plus kPhase: no aliasing here either.
        char* to = tail + (from + kPhase) % 4096 + past.destination;
        trial.copy(to, arena_.source() + from + past.source, trial.size, trial.distance);
        sum += read_copy(to, trial.size);
    };
    call(0);
    const std::uint64_t begin = ticks();
    for (std::size_t i = 1; i <= trial.calls; ++i) call(i);
    const std::uint64_t end = ticks();
    sum_read_ += sum;
    return seconds_between(begin, end) / static_cast<double>(trial.calls);
}

double Stopwatch::time_produce(const Trial& trial) {
    struct Call {
        char *destination, *source;
    };
    std::array<Call, kGroupCalls> group;
    const std::size_t most = std::clamp<std::size_t>(kGroupBytes / trial.size, 1, kGroupCalls);
    // Each source begins at its destination's place in the page, less kPhase: no aliasing here
    // either. So each has room for a page, the misalignment and itself.
    const std::size_t pitch = (trial.size / 4096 + 2) * 4096;
    Sides& sides = slots(trial.size);
    char* sources = arena_.writable_source() + cold_bytes_;
    std::uint64_t elapsed = 0;
    for (std::size_t done = 0; done < trial.calls;) {
        const std::size_t count = std::min(most, trial.calls - done);
        for (std::size_t i = 0; i < count; ++i, ++done) {
            const Misalignment past = misalignment(trial.round + done);
            const std::size_t at = sides.destination.take();
            sides.source.take(); // as cold: the two sides stay side by side
            group[i] = {arena_.destination() + kPhase + at + past.destination,
                        sources + i * pitch + at % 4096 + past.source};
            write_source(group[i].source, trial.size, written_);
            written_ += trial.size / 8 + 1;
        }
        const std::uint64_t begin = ticks();
        for (std::size_t i = 0; i < count; ++i) {
            trial.copy(group[i].destination, group[i].source, trial.size, trial.distance);
        }
        elapsed += ticks() - begin;
    }
    return seconds_between(0, elapsed) / static_cast<double>(trial.calls);
}

double Stopwatch::time_fresh(const Trial& trial) {
    // Each destination has whole pages, with room for its source's place in the page plus kPhase,
    // and for the misalignment.
    const std::size_t room = (trial.size / 4096 + 3) * 4096;
    const std::size_t most = std::max<std::size_t>(1, kFreshBytes / room);
    Sides& sides = slots(trial.size);
    std::uint64_t elapsed = 0;
    for (std::size_t done = 0; done < trial.calls;) {
        const std::size_t end = std::min(trial.calls, done + most);
        const FreshMemory memory((end - done) * room);
        char* pages = memory.begin();
        const std::uint64_t begin = ticks();
        for (; done < end; ++done, pages += room) {
            const Misalignment past = misalignment(trial.round + done);
            const std::size_t from = sides.source.take();
            sides.destination.take(); // as cold: the two sides stay side by side
            trial.copy(pages + (from + kPhase) % 4096 + past.destination,
                       arena_.source() + from + past.source, trial.size, trial.distance);
        }
        elapsed += ticks() - begin;
    }
    return seconds_between(0, elapsed) / static_cast<double>(trial.calls);
}

} // namespace asterope
