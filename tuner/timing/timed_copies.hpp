// The copies that are timed side by side, and the source of their figures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "timing/timings.hpp"

namespace asterope {

/// Copies by their index, libc and the references beside them, and where their timings come from.
/// If one of the copies chooses by the state of the caches, all are timed as such copies are, to
/// stay comparable: see TimedCopy::chooses.
class TimedCopies {
  public:
    /// `copies` must outlive it.
    TimedCopies(Timings& timings, const std::vector<TimedCopy>& copies, TimedCopy libc,
                std::vector<TimedCopy> references = {})
        : timings_(&timings), copies_(&copies), libc_(std::move(libc)),
          references_(std::move(references)),
          choose_(std::ranges::any_of(copies, &TimedCopy::chooses)) {}
    /// Without copies: `timings` are asked for every entrant by its index. Its copy is a mere name.
    TimedCopies(Timings& timings) : timings_(&timings), libc_{.name = "libc"} {}

    /// The same timings with one of the copies in the place of libc, and without references.
    TimedCopies against(Entrant one) const {
        TimedCopies other = *this;
        other.libc_ = copy(one);
        other.references_.clear();
        return other;
    }
    /// The references besides libc.
    std::vector<Entrant> references() const {
        std::vector<Entrant> entrants;
        for (std::size_t i = 0; i < references_.size(); ++i) {
            entrants.push_back(Entrant::reference(i));
        }
        return entrants;
    }
    /// The reference's name as the user gave it, or "libc".
    std::string reference_name(Entrant entrant) const {
        const std::string& name = copy(entrant).name;
        return entrant.is_reference() ? name.substr(kReferencePrefix.size()) : name;
    }

    /// One sample, see SampleRequest.
    Sample sample(std::size_t size, Workload workload, Entrant entrant, std::uint64_t round) const {
        const TimedCopy& own = copy(entrant);
        if (!choose_) return timings_->sample({own, entrant, size, workload, round});
        TimedCopy alike = own;
        alike.chooses = true;
        return timings_->sample({alike, entrant, size, workload, round});
    }
    /// What it leaves behind, see TimedCopy::leaves.
    int leaves(Entrant entrant) const { return copy(entrant).leaves(); }
    /// Ends the round. Returns whether it must be timed again.
    bool end_round() const { return timings_->round_ended().again; }
    void enter(Timings::Stage stage) const { timings_->enter(stage); }

  private:
    const TimedCopy& copy(Entrant entrant) const {
        if (entrant.is_reference()) return references_[entrant.index()];
        return entrant.is_listed() && copies_ ? (*copies_)[entrant.index()] : libc_;
    }

    Timings* timings_;
    const std::vector<TimedCopy>* copies_ = nullptr;
    TimedCopy libc_;
    std::vector<TimedCopy> references_;
    bool choose_ = false;
};

} // namespace asterope
