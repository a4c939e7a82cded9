// Workloads: the surroundings of a copy when it is timed. Their table is workloads/workloads.json.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "timing/fresh_memory.hpp"

namespace asterope {

/// One way to time a copy: each row of the table. Vector registers are clean before a sample's
/// untimed calls. Its figure, the seconds a call, includes choosing the buffers' places, a few
/// additions, for libc as for every candidate.
enum class Workload {
#define ASTEROPE_WORKLOAD(name, ...) name,
#include "timing/workload_rows.inc"
#undef ASTEROPE_WORKLOAD
};

/// The kinds of copies that workloads time.
enum class WorkloadFamily {
    one_size,     ///< pipelines, one size at a time
    small_copies, ///< small copies, of many sizes
    overlapping,  ///< moves between buffers that overlap
};

/// A row of the table, which says what its columns mean.
struct WorkloadFacts {
    std::string_view name; ///< the name in options, logs and profiles
    WorkloadFamily family;
    bool source_cached, destination_cached;
    std::string_view text;  ///< the surroundings of the copy, in a line, for legends
    std::string_view where; ///< the same as the end of a sentence; empty: no summary tells of it
    int level;
    std::size_t from_bytes, to_bytes; ///< 0: no bound
    std::string_view instead;
    bool fresh;
    std::string_view pages; ///< "huge", "small", or empty
    bool walks;
    bool reads, writes_source, settles, tunable;
    double balanced;
    bool measured;
    /// A sample of fetch takes as long as one of hot, cold and consume together. Copies that are
    /// slow there are mostly slow under one of those.
    bool waits_for_run_off;
    bool entry_point;
    std::string_view told_as; ///< its entry point serves this one, too; may be empty
    double sets; ///< its weight for sets; 0: sets, which have no source, are not timed so
};

inline constexpr WorkloadFacts kWorkloads[] = {
#define ASTEROPE_WORKLOAD(row, timer, ...) {.name = #row, __VA_ARGS__},
#include "timing/workload_rows.inc"
#undef ASTEROPE_WORKLOAD
};

constexpr const WorkloadFacts& facts_of(Workload workload) {
    return kWorkloads[static_cast<std::size_t>(workload)];
}

/// All workloads of one size for which `fact` holds, or is not 0, in the order of the table.
template <auto fact> constexpr auto workloads_with() {
    constexpr auto holds = [](const WorkloadFacts& facts) {
        return facts.family == WorkloadFamily::one_size && static_cast<bool>(facts.*fact);
    };
    constexpr std::size_t count = [holds] {
        std::size_t found = 0;
        for (const WorkloadFacts& facts : kWorkloads) found += holds(facts);
        return found;
    }();
    std::array<Workload, count> workloads{};
    std::size_t next = 0;
    for (std::size_t i = 0; i < std::size(kWorkloads); ++i) {
        if (holds(kWorkloads[i])) workloads[next++] = static_cast<Workload>(i);
    }
    return workloads;
}

/// The workloads that can be tuned for.
inline constexpr auto kTunable = workloads_with<&WorkloadFacts::tunable>();

/// The workloads under which the winner of each size is measured, for every objective. Fresh memory
/// is not among them, as it takes long: a page fault took 2 to 3 microseconds on a busy virtual
/// machine.
inline constexpr auto kMeasured = workloads_with<&WorkloadFacts::measured>();

/// The workloads that sets are timed under.
inline constexpr auto kSets = workloads_with<&WorkloadFacts::sets>();

inline std::string name_of(Workload workload) {
    return std::string(facts_of(workload).name);
}

/// The workload of that name.
std::optional<Workload> find_workload(std::string_view name);

/// All of a family: "hot, hot_read, ...".
std::string names_of(WorkloadFamily family);

/// Whether a call meets memory on either side.
constexpr bool is_uncached(Workload workload) {
    return !facts_of(workload).source_cached || !facts_of(workload).destination_cached;
}

/// Whether copies of `size` bytes are timed under a workload of one size at a time.
constexpr bool is_timed_at(std::size_t size, Workload workload) {
    const WorkloadFacts& facts = facts_of(workload);
    return size >= facts.from_bytes && (facts.to_bytes == 0 || size <= facts.to_bytes);
}

/// The advice to the system about the pages of both sides.
constexpr PageAdvice advice_of(const WorkloadFacts& facts) {
    if (facts.pages.empty()) return PageAdvice::none;
    return facts.pages == "huge" ? PageAdvice::huge : PageAdvice::small;
}

/// How long a sample is.
struct Calibration {
    std::size_t calls; ///< in one sample
    double seconds;    ///< a call of libc's; 0 where that is not known
};

/// How long one sample shall take, in seconds: long against the clock's own cost (tens of
/// nanoseconds), short against the machine's slow phases.
constexpr double sample_seconds(Workload workload) {
    return is_uncached(workload) ? 45e-6 : 30e-6;
}

} // namespace asterope
