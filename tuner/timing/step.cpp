// Finds steps by their names, and writes the names that logs have.
#include "timing/step.hpp"

#include <algorithm>
#include <charconv>

#include "base/contains.hpp"

namespace asterope {

std::optional<Step> find_step(std::string_view title) {
    const auto* found = find_in(kSteps, title, &StepNames::title);
    return found ? std::optional(found->step) : std::nullopt;
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
    const std::size_t first = name.find(' ');
    const auto operation = find_operation(name.substr(0, first)).value_or(Operation::copy);
    const bool is_prefixed = operation != Operation::copy && first != name.npos;
    const std::string_view own = is_prefixed ? name.substr(first + 1) : name;
    for (const StepNames& one : kSteps) {
        const std::string_view logged = one.logged;
        if (logged.empty() || !own.starts_with(logged)) continue;
        LoggedStep step{one.step};
        step.operation = operation;
        std::string_view rest = own.substr(logged.size());
        const auto is_letter = [](char one) { return one >= 'a' && one <= 'z'; };
        const bool is_one_word = rest.size() > 1 && rest.rfind(' ') == 0;
        // the exam of small copies has an attempt and no size, as other steps have a size alone
        if (is_one_word &&
            (one.step == Step::exam || std::ranges::all_of(rest.substr(1), is_letter))) {
            step.objective = rest.substr(1);
        } else if (const std::size_t blank = rest.rfind(' '); blank != rest.npos) {
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
