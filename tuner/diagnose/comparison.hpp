// Copies compared in several conditions: all copies in all conditions, interleaved in rounds.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "diagnose/section.hpp"
#include "diagnose/winners.hpp"
#include "timing/repeated_copy.hpp"

namespace asterope::diagnosis {

/// Makes so many calls of a copy; in different rounds it may make them at different places.
using CopyLoop = std::function<void(const TimedCopy& copy, std::size_t calls, std::uint64_t round)>;

/// One condition under which copies are timed.
struct Condition {
    std::string label;           ///< "source +1 B": the row of the table
    std::string baseline;        ///< label of the condition to compare with, or its own
    nlohmann::ordered_json keys; ///< its parameters, for the JSON
    CopyLoop loop;
    bool in_table = true;
};

/// Conditions that are timed in the same rounds: those of one size, as a rule.
struct Group {
    std::string name; ///< "4 KiB": columns of the table
    std::size_t size; ///< bytes of each copy
    std::vector<Condition> conditions;
};

/// The time of one copy in one condition.
struct TakenTime {
    double seconds;    ///< a call, median over the rounds
    Estimate slowdown; ///< its time over its own time in the baseline
};

/// A condition with its findings.
struct Comparison : Condition {
    std::string group; ///< its name
    std::size_t size;
    TakenTime libc;
    Estimate floor; ///< libc's time over libc's, in the group's first condition
    std::optional<TakenTime> winner = {};
    std::string candidate = {}; ///< which the winner is
    Estimate ratio{1, 1, 1}; ///< libc's time over the winner's in this condition, if there is one

    bool is_baseline() const { return label == baseline; }
};

/// Times all groups one after the other. Each sample is a run of calls, as many as libc does in
/// about 20 us in the group's first condition: see time_calls().
std::vector<Comparison> compare(const std::vector<Group>& groups, const Context& context);

/// Copies from one place to another again and again. Both places move as roam() says.
CopyLoop repeated(char* destination, const char* source, std::size_t size);

/// Table, rows and verdict from the comparisons: conditions downwards, groups across. Baselines
/// show times, the others their slowdowns against these.
void fill(Section& section, const std::vector<Comparison>& comparisons);

/// The section of a comparison of these groups.
Section compared(const Context& context, const std::string& question,
                 const std::vector<Group>& groups, const std::vector<std::string>& notes = {});

/// "libc: worst 25.1 x slower at +1 B (4 KiB); winners: nothing that stands out (at most 1.02
/// x)". A slowdown of at least 1.05 stands out where its whole interval lies above libc against
/// libc.
std::string slowdown_verdict(const std::vector<Comparison>& comparisons);

} // namespace asterope::diagnosis
