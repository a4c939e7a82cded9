// The copies that a diagnosis compares with libc's: the profile's winner of each size.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "timing/timed_copy.hpp"

namespace asterope::diagnosis {

/// The winners of a profile, as far as this CPU runs them.
class Winners {
  public:
    /// Without a profile: libc is timed alone.
    Winners() = default;
    Winners(const Profile& profile, const HasFeature& has);

    /// The winner for copies of `bytes`. Null below kMinimumBytes, and if this CPU cannot run it.
    /// Beyond the last interval its winner goes on.
    const TimedCopy* at(std::size_t bytes) const;
    bool empty() const { return left_out_.size() == by_end_.size(); }
    /// A line for each interval whose winner this CPU does not run.
    const std::vector<std::string>& left_out() const { return left_out_; }

  private:
    std::map<std::size_t, std::optional<TimedCopy>> by_end_; ///< of the interval
    std::vector<std::string> left_out_;
};

} // namespace asterope::diagnosis
