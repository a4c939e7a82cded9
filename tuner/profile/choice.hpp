// A choice: the copy of some sizes, its kind, and the evidence for it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/statistics.hpp"
#include "search/fresh_search.hpp"
#include "search/sensing_search.hpp"
#include "search/threads_search.hpp"
#include "space/limits.hpp"
#include "space/space.hpp"
#include "timing/step.hpp"

namespace asterope {

/// The kinds of choices.
enum class ChoiceKind { pipelines, small, overlapping, aliased, threads, fresh };

struct KindFacts {
    const char* name;  ///< Profiles have it, and its copies (find_kind).
    const char* title; ///< Its table has it. "": each operation has its own.
    Step step;         ///< This step finds it.

    bool always;            ///< There is a choice of it wherever its step was run.
    bool alone = true;      ///< A profile has at most one.
    std::size_t begins = 0; ///< The first of them may begin at so many bytes. 0: at none.
};

inline constexpr std::array<KindFacts, 6> kChoiceKinds = {
    {{"pipelines", "", Step::pipelines, true, false},
     {"small", "", Step::small, true},
     {"overlapping", "Overlapping buffers", Step::overlapping, true},
     {"aliased", "Buffers that alias modulo 4096", Step::aliased, false, true, kAliasedMinimum},
     {"threads", "Copies over threads, beside one thread", Step::threads, true, false,
      2 * kLeastChunk},
     {"fresh", "Copies into fresh memory, beside those without a page stage", Step::fresh, false,
      false, kFreshMinimum}}};

constexpr const KindFacts& facts_of(ChoiceKind kind) {
    return kChoiceKinds[static_cast<std::size_t>(kind)];
}

/// A copy that can be chosen: a pipeline, a copy of another kind, a way to share one among threads,
/// a page stage before one.
using AnyCopy = std::variant<Candidate, const asterope_copy*, ThreadShare, PageStage>;

/// The name in tables and logs.
std::string name_of(const AnyCopy& copy);

/// The evidence of a winner's title.
struct Proof {
    std::size_t samples = 0;
    int rounds = 0;
    Estimate lead{1, 1, 1};
    std::vector<std::string> ties;
};

/// A copy behind the winner.
struct RunnerUp {
    AnyCopy copy{};
    double ratio = 1;
    bool tied = false;
};

/// The share that the speed of a common winner has of the speed of each machine's own winner.
struct OfBest {
    double mean = 1, worst = 1;
};

/// How a copy did against libc.
struct Figures {
    double ratio = 1;    ///< weighted geometric mean; 1 where the profile does not say
    double gb_per_s = 0; ///< the most that it copied under any workload; 0: not known
    std::map<Workload, Measured> workloads;
};

/// The copy that the sizes of above < bytes <= up_to take, and the evidence for it.
struct Choice : Figures {
    Operation operation = Operation::copy;
    ChoiceKind kind = ChoiceKind::pipelines;
    std::optional<Workload> intent; ///< none: for all callers
    std::size_t above = 0, up_to = 0;
    std::size_t size = 0; ///< that was timed; 0: a mix of sizes, or several
    /// Where `sensing` is set, the copy that is taken without a counter, and its results. The proof
    /// and the runners-up are of that copy's race.
    AnyCopy copy{};
    std::optional<SensingCopy> sensing;
    Figures plain;
    bool tied = false;
    std::optional<Proof> proof;
    std::vector<RunnerUp> runners_up; ///< the best of them, best first
    std::map<Workload, Estimate> noise_floor;
    bool undecided = false;        ///< see SizeResult
    std::optional<OfBest> of_best; ///< of several machines' common winner only

    /// GB/s that it copied under a workload; 0: not known.
    double bandwidth(Workload workload) const;
    /// The ratio of the copy that senses nothing: the same copy's, or that of the one without a
    /// counter.
    double plain_ratio() const { return sensing ? plain.ratio : ratio; }
    const Candidate& pipeline() const { return std::get<Candidate>(copy); }
    const asterope_copy& member() const { return *std::get<const asterope_copy*>(copy); }
    const ThreadShare& share() const { return std::get<ThreadShare>(copy); }
    const PageStage& stage() const { return std::get<PageStage>(copy); }
};

/// Takes them over; `size`: 0 of a mix of sizes, which has no GB/s.
void set_figures(Figures& figures, const Finalist& one, std::size_t size);

/// The copy that an entrant is: one of a list that outlives the answer's use.
using CopyOf = std::function<AnyCopy(Entrant)>;
template <class Copies> CopyOf among(const Copies& copies) {
    return [&copies](Entrant entrant) { return copies[entrant.index()]; };
}

/// How a race ended: winner, proof, runners-up and noise floor. Only the winner has its
/// measurements.
Choice choice_of(ChoiceKind kind, const SizeResult& result, const CopyOf& copy_of);

} // namespace asterope
