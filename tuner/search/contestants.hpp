// The contestants: the near winners of all sizes, which run at each size. Rows are chosen by their
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

/// Standard pipelines. Each register type and way to store has one without prefetch, few with usual
/// prefetches, and one whose loop has four pages side by side. Temporal stores have one more, by
/// larger blocks. Thousands of candidates are about equally good, so chance decides the winner of a
/// size. Two runs agree on the standard ones.
class StandardPipelines {
  public:
    /// The standard pipelines among all that copy right: `right(entrant)`.
    StandardPipelines(const std::vector<Candidate>& space,
                      const std::function<bool(Entrant)>& right);

    /// The standard pipelines with the registers of this one.
    const std::vector<Entrant>& like(const Candidate& candidate) const;
    bool has(Entrant entrant) const { return all_.count(entrant) > 0; }

    /// The first pipeline that is one instruction, or a few that belong together (AArch64's MOPS):
    /// libc copies that way at some sizes.
    std::optional<Entrant> whole() const { return whole_; }

  private:
    std::map<std::string, std::vector<Entrant>> by_registers_;
    std::set<Entrant> all_;
    std::optional<Entrant> whole_;
};

/// The pipelines that take part, at most `most`: `plain` first, unless it is kLibc, the others
/// ascending. Places are given in this order:
///
/// - `plain`, and the whole copy. Without that one a routine could lose where libc copies so and
///   every other copy is slower.
/// - Standard pipelines with the registers of those that cover most, up to about two thirds of the
///   places: those without prefetch, prefetching ones, larger loops.
/// - The pipelines that cover most.
///
/// A pipeline covers an objective at a size if it is about as good as the best there. The second
/// and third places are then covered alike. A part of the first objective that a probe could tell
/// apart (see Locality) counts like an objective. `outgrows(bytes)`: whether the sides of a copy
/// are too large for all caches.
std::vector<Entrant> choose_contestants(const std::vector<Found>& found,
                                        const std::vector<Weights>& objectives,
                                        const std::function<bool(std::size_t)>& outgrows,
                                        const std::vector<Candidate>& space,
                                        const StandardPipelines& standard, Entrant plain,
                                        std::size_t most);

/// The price of each contestant to a routine, see RowRules. A standard pipeline without prefetch
/// costs nothing, if its loop is the paper's. One that is not standard costs most.
std::vector<double> prices_of(const std::vector<Entrant>& contestants,
                              const StandardPipelines& standard,
                              const std::vector<Candidate>& space);

/// How much better each contestant has to be than the simplest at each size, see RowRules. A
/// standard loop of the paper's without prefetch has 0. Another standard pipeline has half of
/// TieBand::never. The rest have all of it. So have pipelines of one instruction, except the first
/// of these. With finer steps two runs would not agree.
std::vector<double> handicaps_of(const std::vector<Entrant>& contestants,
                                 const StandardPipelines& standard,
                                 const std::vector<Candidate>& space);

/// The duration of a probe in ns, by Locality of the data that it finds.
using ProbeNs = std::array<double, kLocalities>;

/// The contestants' worth for one objective, from its result at one size. All are alike where noise
/// hid everything. `probe` is empty where no copy can sense. `outgrows`: see locality_of().
/// `temporal`: by contestant, whether its stores stay in the caches; empty if no copy learns the
/// stores that suit a call site (see heeds_sites). One that does takes its `fetched` pipeline for
/// an uncached destination that is read. So such a workload counts for `fetched`, which must be
/// temporal. (Stores past the caches may serve some readers better. A call site then keeps to them,
/// which is not predicted here.) `one_sided`: for memset such a workload counts in SizeScores::read
/// instead, as a call site chooses between both pipelines.
SizeScores scores_of(const SizeResult& result, const Weights& weights,
                     const std::vector<Entrant>& contestants,
                     const std::optional<ProbeNs>& probe = std::nullopt, bool outgrows = false,
                     const std::vector<bool>& temporal = {}, bool one_sided = false);

/// At a short size, several contestants execute the same instructions. They all get the mean of
/// their worths, as chance decides which of them wins. Otherwise a copy could get a name that says
/// "non-temporal" and not store so.
void share_scores(std::size_t size, const std::vector<Entrant>& contestants,
                  const std::vector<Candidate>& space, SizeScores& scores);

} // namespace asterope
