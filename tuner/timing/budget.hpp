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

/// Counts from its construction. CLOCK_MONOTONIC: a suspended machine spends nothing.
class Budget {
  public:
    /// Without `seconds` the budget never ends.
    explicit Budget(std::optional<double> seconds = std::nullopt)
        : seconds_(seconds), begin_(Clock::now()) {}

    /// From now on this share of the budget may be spent, counted from its beginning. So the sizes
    /// leave time for the later steps.
    void allow(double share) { share_ = share; }

    void throw_if_spent() const {
        if (!seconds_) return;
        const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
        if (spent >= share_ * *seconds_) throw BudgetSpent();
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::optional<double> seconds_;
    Clock::time_point begin_;
    double share_ = 1;
};

} // namespace asterope
