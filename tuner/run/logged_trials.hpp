// Figures from a whole log, for replaying its search without the machine.
#pragma once

#include "run/record_cursor.hpp"
#include "run/trial_log.hpp"
#include "timing/trial_source.hpp"

namespace asterope {

/// Serves what a search asked for, in the order in which it asked. Throws BadInput where the log
/// ends before the search, or is of another.
class LoggedTrials : public TrialSource {
  public:
    /// `log` must outlive it; `what` is what messages call it.
    LoggedTrials(const TrialLogContents& log, std::string what);

    bool has(const std::string& step) const override { return recorded_.has(step); }
    void enter(const std::string& step, std::size_t known = 0) override;
    Trial trial(const TrialKey& key, const std::function<double(Instruments&)>& time) override;
    std::vector<double>
    readings(const ProbeKey& key,
             const std::function<std::vector<double>(Instruments&)>& read) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;
    std::vector<Disturbance> round_ended() override;

  private:
    template <class Value, class Key> const Value& take(const Key& key);

    RecordCursor recorded_;
    std::string what_;
};

} // namespace asterope
