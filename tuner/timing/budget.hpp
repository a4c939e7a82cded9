// The time budget of a run: how long it may go on timing.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>

namespace asterope {

/// The code that is about to spend more than the budget throws this.
struct BudgetSpent : std::runtime_error {
    BudgetSpent() : std::runtime_error("the time budget is spent") {}
};

/// Counts by CLOCK_MONOTONIC: a suspended machine spends nothing.
class Budget {
  public:
    using Clock = std::chrono::steady_clock;

    /// Without `seconds` the budget never ends.
    explicit Budget(std::optional<double> seconds = std::nullopt,
                    Clock::time_point begin = Clock::now())
        : seconds_(seconds), begin_(begin) {}

    /// Begins a part of the run, which may go on until this share of the budget is spent.
    void begin_part(double until) {
        part_begin_ = spent();
        part_end_ = until * seconds_.value_or(0);
        allow(1);
    }

    /// From now on this share of the part may be spent. So the sizes leave time for the later
    /// steps.
    void allow(double share) { limit_ = part_begin_ + share * (part_end_ - part_begin_); }

    void throw_if_spent() const {
        if (seconds_ && spent() >= limit_) throw BudgetSpent();
    }

  private:
    double spent() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    std::optional<double> seconds_;
    Clock::time_point begin_;
    double part_begin_ = 0, part_end_ = seconds_.value_or(0), limit_ = part_end_; ///< seconds
};

} // namespace asterope
