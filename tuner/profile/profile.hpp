// The profile: the winners, the machine they hold for, and how they were found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "search/objective.hpp"
#include "search/step.hpp"
#include "search/threads_search.hpp"
#include "space/space.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

inline constexpr const char* kProfileFormat = "asterope-profile";
inline constexpr int kProfileVersion = 1;

/// A copy's times under one workload: medians of a call.
struct Measurement {
    double ns = 0;
    double libc_ns = 0;
    Estimate ratio{1, 1, 1}; ///< libc's time over the copy's
    /// The same of the better of libc and the references, and which one that is.
    std::optional<Estimate> best_ratio = std::nullopt;
    std::string best_reference = {};
};

/// The same of a copy over threads, beside one thread.
struct SharedMeasurement {
    double ns = 0, alone_ns = 0;
    Estimate ratio{1, 1, 1}; ///< one thread's time over the copy's
    std::size_t rounds = 0;
};

/// A copy of another kind than the pipelines.
template <const asterope_kind& kind> struct CopyOf {
    const asterope_copy* copy = nullptr;

    const asterope_copy* operator->() const { return copy; }
    const asterope_copy& operator*() const { return *copy; }
    bool operator==(const CopyOf&) const = default;
};
using SmallCopy = CopyOf<asterope_small_copies>;
using SmallSet = CopyOf<asterope_small_sets>;
using AliasedCopy = CopyOf<asterope_aliased_copies>;
using OverlappingCopy = CopyOf<asterope_overlapping_copies>;
using Probe = CopyOf<asterope_probes>;

/// One copy and how it did against libc.
template <class Copy> struct Entry {
    Copy copy{};
    double ratio = 1; ///< weighted geometric mean; 1 where the profile does not say
    bool tied = false;
    std::map<Workload, Measurement> workloads;
};

/// What a winner's title rests on.
struct Proof {
    std::size_t samples = 0;
    int rounds = 0;
    Estimate lead{1, 1, 1};
    std::vector<std::string> ties;
};

/// How a race among copies of one kind ended.
template <class Copy> struct RaceOutcome {
    Entry<Copy> winner;
    std::optional<Proof> proof;
    std::vector<Entry<Copy>> runners_up; ///< the best of them, best first
    std::map<Workload, Estimate> noise_floor;
    bool undecided = false; ///< noise hid which is the fastest: the winner is the plain copy
};

/// A copy that senses where its data is, and goes on with `hot`, `cold` or `fetch`.
struct Sensing {
    Probe probe;
    std::uint32_t threshold = 0; ///< in ticks
    double cached_ticks = 0, uncached_ticks = 0;
    Candidate hot{}, cold{};
    std::optional<Candidate> fetch = {}; ///< where its probe looks at the destination, too
    double ratio = 1;
    std::map<Workload, Measurement> workloads;
};

/// What the speed of a common winner is of that of each machine's own winner, as a share.
struct OfBest {
    double mean = 1, worst = 1;
};

/// The copies of above < bytes <= up_to, and how their race at `size` bytes ended.
struct Interval : RaceOutcome<Candidate> {
    std::size_t above = 0, up_to = 0, size = 0;
    std::optional<Sensing> sensing;
    std::optional<OfBest> of_best; ///< of several machines' common winner only
};

/// The winners of one workload, for callers who know that it is theirs.
struct Intent {
    std::vector<Interval> intervals;
};

template <class Copy> struct SmallOutcomeOf : RaceOutcome<Copy> {
    std::string distribution, objective;
};
using SmallOutcome = SmallOutcomeOf<SmallCopy>;

using OverlappingOutcome = RaceOutcome<OverlappingCopy>;

/// Not within AliasedOutcome: clang 14 takes it for incomplete in a std::optional there.
struct AliasedWinner {
    std::size_t above = 0, up_to = 0;
    AliasedCopy copy{};
};

/// What was found where buffers alias modulo 4096.
struct AliasedOutcome {
    using Copy = AliasedCopy;
    using Winner = AliasedWinner;
    struct Size {
        std::size_t size = 0;
        Estimate pipeline{1, 1, 1};
        Copy best{};
        Estimate best_ratio{1, 1, 1};
        std::vector<std::pair<Copy, double>> gains; ///< of each copy over the pipeline
        bool undecided = false;
    };
    std::optional<Winner> winner; ///< none: no copy is worth a path of its own
    std::vector<Size> sizes;
};

/// The best copy over threads at one size.
struct SharedOutcome {
    std::size_t size = 0;
    ThreadShare share;
    bool taken = false;
    double ratio = 1;
    std::map<Workload, SharedMeasurement> workloads;
    std::map<Workload, Estimate> noise_floor;
};

/// What was found about copies over threads.
struct ThreadsOutcome {
    unsigned most = 1; ///< threads that were tried
    std::vector<ShareInterval> intervals;
    std::vector<SharedOutcome> results;
};

/// What a run did not get to, because its time was up.
struct LeftOut {
    std::vector<std::size_t> sizes; ///< bytes, without a winner of their own
    /// Of: boundaries, small copies, overlapping buffers, aliasing buffers, sensing, threads, exam.
    std::set<Step> steps;

    bool empty() const { return sizes.empty() && steps.empty(); }
    bool operator==(const LeftOut&) const = default;
};

/// How the winners were found.
struct SearchFacts {
    std::string tool_version;
    std::string space; ///< "paper" or "extended"
    std::optional<std::size_t> candidates;
    std::vector<std::string> axes; ///< that were tried besides the paper's
    std::string no_sensing;        ///< why this CPU's counter serves no copies that sense, or ""
    std::size_t extended_candidates = 0;
    std::string rigor, workload;
    Weights weights;
    std::optional<std::uint64_t> seed;
    std::optional<int> cpu;
    std::string started, finished; ///< times in UTC, ISO 8601
    double seconds = 0;
    std::size_t trials = 0;
    std::vector<std::pair<std::string, std::string>> invalid; ///< candidate, reason
    std::vector<std::string> warnings;
    std::vector<std::string> without;    ///< CPU features left out on request
    std::vector<std::string> references; ///< by which winners were judged besides libc
    std::string source_map;              ///< what the sources were mapped from, or ""
    std::optional<double> budget_seconds;
    int resumed = 0;                        ///< how many times the run went on from its log
    std::optional<DisturbanceCounts> noise; ///< none where nobody watched
    /// Seconds by what they were spent on, in the order of the run: building, verifying,
    /// calibrating, screening, run-off, sensing, boundaries, small copies, overlapping buffers,
    /// aliasing buffers, threads.
    TimeAccount phases;
};

/// Where the compiled routine was slower than the fastest of libc and the references, beyond noise.
struct ExamLoss {
    std::size_t size = 0; ///< bytes; 0 under workloads that mix sizes
    std::string workload;
    Estimate ratio{1, 1, 1}; ///< the time of the fastest of those over the routine's
};

/// How the compiled routine did at the end, on fresh samples.
struct ExamFacts {
    std::size_t cells = 0; ///< pairs of a size and a workload
    std::size_t exams = 1; ///< after each but the last, rows that had lost were chosen anew
    std::vector<ExamLoss> losses;
};

/// What a profile was merged from.
struct Merged {
    struct Source {
        std::string name; ///< of its file
        std::string rigor;
        std::optional<std::uint64_t> seed;
        std::string started, finished;
        std::size_t trials = 0;
        nlohmann::json machine;
    };
    std::string from = "machines"; ///< of one type
    std::vector<Source> sources;
};

/// What was found of memset, as the profile itself has it of copies.
struct SetOutcome {
    Weights weights;
    std::size_t candidates = 0;
    std::optional<SmallOutcomeOf<SmallSet>> small;
    std::vector<Interval> intervals;
    std::optional<ExamFacts> exam;
    LeftOut left_out;
};

/// The whole profile; its fields are described in scripts/asterope/profile.schema.json. What may
/// be missing was left out.
struct Profile {
    bool complete = false;
    LeftOut left_out; ///< empty: the run is complete
    std::optional<Merged> merged;
    std::string source;     ///< of a profile that was not measured
    nlohmann::json machine; ///< as the machine describes itself; null: not known
    SearchFacts search;
    std::optional<SmallOutcome> small;
    std::optional<AliasedOutcome> aliased;
    std::optional<OverlappingOutcome> overlapping;
    std::optional<ThreadsOutcome> threads;
    std::optional<SetOutcome> memset;   ///< none: only copies were tuned
    std::optional<ExamFacts> exam;      ///< none: no routine was compiled
    std::vector<Interval> intervals;    ///< the routine's own
    std::map<Workload, Intent> intents; ///< of the entry points

    /// Whether it has all that its search was asked for, of memset too: what `complete` must say.
    bool has_all() const;
    /// Bytes that the winners were measured at, ascending.
    std::vector<std::size_t> sizes() const;
    /// That which it says that it holds for, and those it was merged from.
    std::vector<nlohmann::json> machines() const;
};

nlohmann::ordered_json to_json(const Profile& profile);
/// As files hold it.
std::string text_of(const Profile& profile);
/// Of JSON that the schema allows. Throws BadInput for a copy that this version does not know.
Profile profile_of(const nlohmann::ordered_json& json);

/// A profile that speaks of the copies of another architecture.
struct OtherArchitecture : BadInput {
    using BadInput::BadInput;
};
struct NewerProfile : BadInput {
    using BadInput::BadInput;
};

/// Reads a profile. Throws BadInput with one line that names the place of whatever is wrong: a
/// field that the schema does not allow, intervals that do not ascend, a copy that this version
/// does not know. OtherArchitecture and NewerProfile say what they are.
Profile read_profile(const std::filesystem::path& path);
/// The same of a text that was read already; errors begin with `what` ("profile x.json").
Profile parse_profile(std::string_view text, const std::string& what);

/// Now, as profiles write it: "2026-11-20T22:15:00Z".
std::string utc_now();

} // namespace asterope
