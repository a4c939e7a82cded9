// Workloads: what surrounds a copy when it is timed, and the timing itself.
#include "workload.hpp"

#include <algorithm>
#include <numeric>

#include "clock.hpp"
#include "cpu.hpp"
#include "error.hpp"
#include "libc_copy.hpp"
#include "statistics.hpp"

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

/// Untimed calls before a hot trial. What another copy left in the caches (a destination that its
/// non-temporal stores evicted) takes up to three copies to be gone.
constexpr std::size_t kWarmUp = 3;

} // namespace

std::string_view name_of(Workload workload) {
    static constexpr std::string_view names[] = {
        "hot",         "cold",        "aliased",     "mix_l1", "mix_l2",    "mix_l3",
        "mix_l1_read", "mix_l2_read", "mix_l3_read", "fixed",  "fixed_read"};
    return names[static_cast<std::size_t>(workload)];
}

Misalignment misalignment(std::uint64_t i) {
    // Computed, not looked up: a table's loads would alias the copy's stores at some page offsets
    // (a quarter of the time of a 1 KiB copy), and no copy would be to blame.
    const std::uint64_t scattered = i * 0x9E3779B97F4A7C15u; // multiples of the golden ratio
    return {scattered >> 58, scattered >> 52 & 63};
}

std::vector<Workload> parse_workload(std::string_view text) {
    if (text == "hot") return {Workload::hot};
    if (text == "cold") return {Workload::cold};
    if (text == "balanced") return {Workload::hot, Workload::cold};
    throw BadInput("workload '" + std::string(text.substr(0, 40)) +
                   "' is unknown: choose balanced, hot or cold");
}

double trial_seconds(Workload workload) {
    return workload == Workload::cold ? 60e-6 : 30e-6;
}

Stopwatch::Stopwatch(const Arena& arena, std::size_t largest_size)
    : arena_(arena), cold_bytes_(arena.bytes() - largest_size - 2 * 4096) {}

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

std::size_t Stopwatch::calls(std::size_t size, Workload workload) const {
    return calibrations_.at({size, calibrated_as(workload)}).calls;
}

double Stopwatch::trial_seconds(std::size_t size, Workload workload) const {
    const Calibration& calibration = calibrations_.at({size, calibrated_as(workload)});
    return calibration.seconds * static_cast<double>(calibration.calls);
}

double Stopwatch::time(CopyFunction copy, std::size_t distance, std::size_t size, Workload workload,
                       std::uint64_t round) {
    const std::size_t n = calls(size, workload);
    // What ran before may have left upper register halves dirty, which slows others down.
    clean_vector_state();
    if (workload == Workload::cold) return time_cold(copy, distance, size, n, round);
    return time_hot(copy, distance, size, n, round, workload == Workload::aliased);
}

double Stopwatch::time_hot(CopyFunction copy, std::size_t distance, std::size_t size,
                           std::size_t calls, std::uint64_t round, bool aliased) {
    // Each round has its place in the page: what else the loop touches (the stack) lies at the same
    // page offset as the buffers in some rounds only.
    const std::size_t place = cold_bytes_ + (round * 27 % 64) * 64;
    const char* source = arena_.source() + place;
    char* destination = arena_.destination() + place + (aliased ? 0 : kPhase);
    const auto run = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            Misalignment past = misalignment(round + i);
            // 1 to 63 bytes past the source, modulo the page
            if (aliased) past.destination = past.source + 1 + (past.destination * 63 >> 6);
            copy(destination + past.destination, source + past.source, size, distance);
        }
    };
    run(std::max(kWarmUp, calls / 8));
    const std::uint64_t begin = ticks();
    run(calls);
    return seconds_between(begin, ticks()) / static_cast<double>(calls);
}

Stopwatch::Slots& Stopwatch::slots(std::size_t size) {
    Slots& slots = slots_[size];
    if (slots.count == 0) {
        // An odd number of lines apart: the slots then fall into all sets of every cache.
        const std::size_t lines = std::max(kLeastLines, size / 64 + 3) | 1;
        slots.stride = lines * 64;
        slots.count = std::max<std::size_t>(1, (cold_bytes_ - kPhase - 64) / slots.stride);
        // Steps of the golden ratio scatter best; coprime to the count they visit every slot.
        slots.step = std::max<std::size_t>(
            1, static_cast<std::size_t>(0.6180339887 * static_cast<double>(slots.count)));
        while (std::gcd(slots.step, slots.count) != 1) ++slots.step;
    }
    return slots;
}

double Stopwatch::time_cold(CopyFunction copy, std::size_t distance, std::size_t size,
                            std::size_t calls, std::uint64_t round) {
    Slots& slots = this->slots(size);
    const char* source = arena_.source();
    char* destination = arena_.destination() + kPhase;
    std::size_t next = slots.next;
    const std::uint64_t begin = ticks();
    for (std::size_t i = 0; i < calls; ++i) {
        const Misalignment past = misalignment(round + i);
        const std::size_t at = next * slots.stride;
        copy(destination + at + past.destination, source + at + past.source, size, distance);
        next += slots.step;
        if (next >= slots.count) next -= slots.count;
    }
    const std::uint64_t end = ticks();
    slots.next = next;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

} // namespace asterope
