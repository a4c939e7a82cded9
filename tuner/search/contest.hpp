// The contest: the near winners of all sizes run at each size, and rows are chosen by what they are
// worth there.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/rows.hpp"
#include "search/search.hpp"

namespace asterope {

/// Standard pipelines: of each register type and way to store, the one without prefetch, the same
/// by larger blocks, few with usual prefetches, and one whose loop does all that the extension can.
/// Thousands of candidates are about as good as another; which of them wins a size is chance. Two
/// runs agree on these.
class StandardPipelines {
  public:
    /// Of all that copy right: `right(entrant)`.
    StandardPipelines(const std::vector<Candidate>& space,
                      const std::function<bool(Entrant)>& right);

    /// Those with the registers of this one.
    const std::vector<Entrant>& like(const Candidate& candidate) const;
    bool has(Entrant entrant) const { return all_.count(entrant) > 0; }

    /// The first one that a single instruction does: what libc does of some sizes, too.
    std::optional<Entrant> whole() const { return whole_; }

  private:
    std::map<std::string, std::vector<Entrant>> by_registers_;
    std::set<Entrant> all_;
    std::optional<Entrant> whole_;
};

/// Which pipelines take part, at most `most`: `plain` first, where it is none of kLibc, and the
/// whole one, lest a routine lose to libc's own way where no other is as good; then the standard
/// ones with the registers of those that cover most, for about two thirds of the places, those that
/// prefetch nothing first; then these. Of what counts at a size (each objective, and what of the
/// first one a probe could tell apart, see Locality) a pipeline covers what it was about the best
/// for.
std::vector<Entrant> choose_contestants(const std::vector<Found>& found,
                                        const std::vector<Weights>& objectives,
                                        const std::vector<Candidate>& space,
                                        const StandardPipelines& standard, Entrant plain,
                                        std::size_t most);

/// What each contestant costs a routine, see RowRules: a plain loop that prefetches nothing costs
/// nothing, and one that is not standard has to bring more.
std::vector<double> prices_of(const std::vector<Entrant>& contestants,
                              const StandardPipelines& standard,
                              const std::vector<Candidate>& space);

/// By how much each has to be better than the simplest at each size, see RowRules: a plain loop
/// that prefetches nothing by 0, another standard one by half of TieBand::never, the rest, and of
/// those that are one instruction all but the first, by all of it: two runs agree on nothing finer.
std::vector<double> handicaps_of(const std::vector<Entrant>& contestants,
                                 const StandardPipelines& standard,
                                 const std::vector<Candidate>& space);

/// What a probe takes, in ns, by Locality of the data that it finds.
using ProbeNs = std::array<double, kLocalities>;

/// What the contestants are worth by one objective, from its result at one size. Alike where noise
/// hid everything. `probe`: none where no copy can sense.
SizeScores scores_of(const SizeResult& result, const Weights& weights,
                     const std::vector<Entrant>& contestants,
                     const std::optional<ProbeNs>& probe = std::nullopt);

/// Gives one worth, their mean, to contestants that execute the same instructions at a size, as it
/// is short: which of them wins is chance, and a name that says "non-temporal" would be told of a
/// copy that is not.
void share_scores(std::size_t size, const std::vector<Entrant>& contestants,
                  const std::vector<Candidate>& space, SizeScores& scores);

} // namespace asterope
