// The steps of a run, with their names in logs, left-out lists and the account of time.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "space/operation.hpp"

namespace asterope {

/// The steps in the order in which lists of left-out steps name them.
enum class Step {
    calibration,
    pipelines,
    small,
    overlapping,
    rows,
    sensing,
    boundaries,
    aliased,
    threads,
    fresh,
    exam,
    memset, ///< all of another operation, where nothing of it was done
    // The account of time also has the following steps. Its pipelines are in two parts, see
    // Timings::Stage.
    building,
    verifying,
    screening,
    run_off
};

struct StepNames {
    Step step;
    /// Its name in the log. There the objective of a boundary and the size, if any, stand behind
    /// it. Empty if the log has no such step.
    const char* logged;
    /// Its name among left-out steps, in the account of time, on the progress line.
    const char* title;
};

inline constexpr std::array<StepNames, 16> kSteps = {{
    {Step::calibration, "calibration", "calibrating"},
    {Step::pipelines, "pipelines", "pipelines"},
    {Step::small, "small copies", "small copies"},
    {Step::overlapping, "overlapping buffers", "overlapping buffers"},
    {Step::rows, "rows", "rows"},
    {Step::sensing, "sensing", "sensing"},
    {Step::boundaries, "boundary", "boundaries"},
    {Step::aliased, "aliased", "aliasing buffers"},
    {Step::threads, "threads", "threads"},
    {Step::fresh, "fresh", "fresh memory"},
    {Step::exam, "exam", "exam"},
    {Step::memset, "", "memset"},
    {Step::building, "", "building"},
    {Step::verifying, "", "verifying"},
    {Step::screening, "", "screening"},
    {Step::run_off, "", "run-off"},
}};

constexpr const char* title_of(Step step) {
    return kSteps[static_cast<std::size_t>(step)].title;
}

/// The title on the progress line: "screening", "memset screening".
inline std::string title_of(Step step, Operation operation) {
    const std::string name = operation == Operation::copy ? "" : name_of(operation) + ' ';
    return name + title_of(step);
}

/// The step of that title.
std::optional<Step> find_step(std::string_view title);

/// The seconds of each step, in the order in which the steps began.
using TimeAccount = std::vector<std::pair<Step, double>>;

/// One part of a step, as the log has it: "calibration", "pipelines 4096", "boundary hot 6144",
/// "exam 1 4096". Other operations than memcpy stand in front: "memset pipelines 4096".
struct LoggedStep {
    Step step;
    std::size_t size = 0;       ///< bytes; 0: the step is not of one size
    std::string objective = {}; ///< of a boundary; which part it is, where a step has several
    Operation operation = Operation::copy;

    std::string name() const;
    auto operator<=>(const LoggedStep&) const = default;
};

/// Parses a name as LoggedStep::name writes it; empty for other text.
std::optional<LoggedStep> parse_step(std::string_view name);

} // namespace asterope
