// What asterope-bench measures, kept for its JSON report and shown as tables.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "paired.hpp"

namespace asterope {

/// Who runs in each round: libc under two names, for the noise floor.
enum Copy { kLibcCopy, kLibcCopyAgain, kRoutine };

/// The routine may leave the caches otherwise than libc does: see Stopwatch::time.
inline int company_of(int copy) {
    return copy == kRoutine;
}

/// One comparison. Times are medians in seconds a call.
struct Comparison {
    double libc, ours;
    Estimate ratio; ///< libc's time over ours
    Estimate floor; ///< libc's over libc's
};

class Report {
  public:
    explicit Report(int rounds) : rounds_(rounds) {}

    /// What the next comparisons belong to, as --suite has it.
    void suite(const std::string& name) { suite_ = name; }

    /// Times libc twice and the routine in paired rounds; `seconds` times one trial of a Copy,
    /// `size` is 0 where the workload mixes sizes.
    Comparison compare(std::size_t size, Workload workload, const Paired::Seconds& seconds);

    /// A table of one comparison a row: its title and columns, a row, and the mean of all.
    void begin(const std::string& title);
    void row(const std::string& label, std::size_t size, Workload workload,
             const Paired::Seconds& seconds);
    void end() const;

    /// All comparisons so far.
    const nlohmann::ordered_json& results() const { return results_; }

  private:
    int rounds_;
    std::string suite_;
    double logs_ = 0;
    int rows_ = 0;
    nlohmann::ordered_json results_ = nlohmann::ordered_json::array();
};

} // namespace asterope
