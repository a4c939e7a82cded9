// Finds steps by their names, and writes the names that logs have.
#include "search/step.hpp"

#include <charconv>

namespace asterope {

std::optional<Step> find_step(std::string_view title) {
    for (const StepNames& one : kSteps) {
        if (one.title == title) return one.step;
    }
    return std::nullopt;
}

std::string LoggedStep::name() const {
    std::string name;
    if (operation != Operation::copy) name = name_of(operation) + ' ';
    name += kSteps[static_cast<std::size_t>(step)].logged;
    if (!objective.empty()) name += ' ' + objective;
    if (size > 0) name += ' ' + std::to_string(size);
    return name;
}

std::optional<LoggedStep> parse_step(std::string_view name) {
    if (const std::size_t blank = name.find(' '); blank != name.npos) {
        const auto operation = find_operation(name.substr(0, blank));
        if (operation && *operation != Operation::copy) {
            auto step = parse_step(name.substr(blank + 1));
            if (step && step->operation != Operation::copy) return std::nullopt;
            if (step) step->operation = *operation;
            return step;
        }
    }
    for (const StepNames& one : kSteps) {
        const std::string_view logged = one.logged;
        if (logged.empty() || name.substr(0, logged.size()) != logged) continue;
        LoggedStep step{one.step};
        std::string_view rest = name.substr(logged.size());
        if (const std::size_t blank = rest.rfind(' '); blank != rest.npos) {
            const char* end = rest.data() + rest.size();
            const auto read = std::from_chars(rest.data() + blank + 1, end, step.size);
            if (read.ptr != end || read.ec != std::errc() || step.size == 0) continue;
            if (blank > 1) step.objective = rest.substr(1, blank - 1);
        }
        if (step.name() == name) return step;
    }
    return std::nullopt;
}

} // namespace asterope
