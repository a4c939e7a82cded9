// Timings from a recording: what any search can be run against instead of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "run/recording.hpp"
#include "search/race.hpp"
#include "search/spaces.hpp"

namespace asterope {

/// The space of the machine that a recording was made on, and who of it was recorded. Nothing of
/// the machine that this runs on is asked.
class RecordedSpace {
  public:
    /// Throws BadInput, beginning with `what` ("log trials.jsonl"), for recorded candidates that
    /// this version does not have for the recorded machine.
    RecordedSpace(const Recording& recording, const std::string& what);

    const Spaces& spaces() const { return spaces_; }
    /// Whether the extension axes were searched.
    bool extended() const { return extended_; }
    /// Its samples; null where there are none.
    const RecordedField::Samples* samples(const RecordedField& field, Entrant entrant) const;
    /// The whole space's, with libc's of that size beside them.
    TimedCopies timed(Timings& timings, std::size_t size) const {
        return {timings, copies_, libc_at(size, libc_thresholds_)};
    }

  private:
    bool extended_;
    Spaces spaces_;
    std::map<std::string, std::size_t> libc_thresholds_;
    std::vector<TimedCopy> copies_;
    std::vector<int> places_; ///< of each entrant among the recording's names; -1: none
};

/// Serves each candidate's own samples, as libc's median time would have made them. They come in an
/// order that depends on seed, size, workload and candidate alone, not on who else is asked, and in
/// another one each time that all have been served. Libc's timings of one round share what libc was
/// in one of the recorded rounds.
class RecordedTimings : public Timings {
  public:
    RecordedTimings(const Recording& recording, const RecordedSpace& space, std::uint64_t seed);

    /// Size and workload must be recorded. A candidate without samples is as fast as libc: to be
    /// asked only where the figure does not count.
    Trial trial(const TrialRequest& asked) override;

    std::size_t trials() const { return trials_; }
    /// Of wall time that the trials so far would have taken: what each copied, and what a trial
    /// there takes besides.
    double wall_seconds() const { return wall_seconds_; }

  private:
    /// Who draws from which samples, and how far he is.
    struct Deck {
        const RecordedField::Samples* samples;
        std::vector<std::uint32_t> order;
        std::size_t next = 0;
        RandomStream random; ///< of its shuffles
    };
    struct Table {
        const RecordedField* field;
        std::unordered_map<Entrant, Deck> decks;
    };

    double draw(Deck& deck);

    const RecordedSpace& space_;
    const std::uint64_t seed_;
    std::map<std::pair<std::size_t, Workload>, Table> tables_;
    std::size_t trials_ = 0;
    double wall_seconds_ = 0;
};

} // namespace asterope
