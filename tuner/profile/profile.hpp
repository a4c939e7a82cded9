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
#include "profile/choice.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

struct Part;

inline constexpr const char* kProfileFormat = "asterope-profile";
inline constexpr int kProfileVersion = 2;

/// The searches that a run did not reach, because its time was up.
struct LeftOut {
    std::vector<std::size_t> sizes; ///< bytes, without a winner of their own
    std::set<Step> steps;           ///< those that the schema names

    bool empty() const { return sizes.empty() && steps.empty(); }
    bool operator==(const LeftOut&) const = default;
};

/// The facts about a run that its log has from the beginning. Times are in UTC, ISO 8601.
struct RunStart {
    std::string started;
    std::optional<int> cpu;
    std::string memory_nodes; ///< where buffers lay, of several NUMA nodes, or ""
    std::string no_sensing;   ///< why this CPU's counter serves no copies that sense, or ""
    std::vector<std::string> warnings;

    bool is_interleaved() const { return memory_nodes.starts_with("interleaved"); }
};

/// Those that its log has at the end.
struct RunEnd {
    std::string finished;
    double seconds = 0;
    TimeAccount phases; ///< the seconds of each, in the order in which they began
    int resumed = 0;    ///< how many times the run went on from its log
    std::optional<double> budget_seconds = {}; ///< of the last part
};

/// How the winners were found.
struct SearchFacts : RunStart, RunEnd {
    std::string tool_version;
    std::string space; ///< "paper" or "extended"
    std::map<Operation, std::size_t> candidates;
    std::vector<std::string> axes; ///< that were tried besides the paper's
    std::size_t extended_candidates = 0;
    std::string rigor, workload;
    std::map<Operation, Weights> weights;
    std::string distribution;        ///< whose sizes of small copies were drawn
    std::optional<unsigned> threads; ///< that were tried at most
    std::optional<std::uint64_t> seed;
    std::size_t trials = 0;
    std::vector<std::pair<std::string, std::string>> invalid; ///< candidate, reason
    std::vector<std::string> without;                         ///< CPU features left out on request
    std::vector<std::string> references;    ///< by which winners were judged besides libc
    std::string source_map;                 ///< the source map's option, or ""
    std::optional<DisturbanceCounts> noise; ///< empty where the rounds were not watched
};

/// Where the compiled routine was slower than the fastest of libc and the references, beyond noise.
struct ExamLoss {
    std::size_t size = 0; ///< bytes; 0 under workloads that mix sizes
    std::string workload;
    Estimate ratio{1, 1, 1}; ///< the time of the fastest of those over the routine's
};

/// Libc's time over the routine's in every round of an exam, over all sizes and workloads.
struct ExamRounds {
    std::size_t count = 0;
    double median = 1;
    double slowest = 1; ///< the 1st percentile: the slowest round in a hundred
    double floor = 1;   ///< the same of libc beside itself, which noise alone does
};

/// `ratios` of libc's time to the routine's, `own` of libc's to libc's, of the same rounds.
ExamRounds exam_rounds(const std::vector<double>& ratios, const std::vector<double>& own);

/// How the compiled routine did at the end, on fresh samples.
struct ExamFacts {
    std::size_t cells = 0; ///< pairs of a size and a workload
    std::size_t exams = 1; ///< after each but the last, rows that had lost were chosen anew
    std::vector<ExamLoss> losses;
    std::optional<ExamRounds> rounds{}; ///< none in profiles of before they were counted
};

/// The profiles that this one was merged from.
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

/// The whole profile; its fields are described in scripts/asterope/profile.schema.json. Optional
/// parts may have been left out.
struct Profile {
    bool complete = false;
    std::map<Operation, LeftOut> left_out; ///< empty: the run is complete
    std::optional<Merged> merged;
    std::string source;     ///< of a profile that was not measured
    nlohmann::json machine; ///< as the machine describes itself; null: not known
    SearchFacts search;
    std::map<Operation, ExamFacts> exam; ///< none: no routine was compiled
    std::vector<Choice> choices;         ///< those of one kind ascend

    /// The choices of one kind, and of one intent.
    std::vector<const Choice*> of(ChoiceKind kind, Operation operation = Operation::copy,
                                  std::optional<Workload> intent = std::nullopt) const;
    /// The first of them; null where the profile has not got any.
    const Choice* first(ChoiceKind kind, Operation operation = Operation::copy) const;
    /// Bytes that the winners were measured at, ascending.
    std::vector<std::size_t> sizes(Operation operation = Operation::copy) const;
    /// That which it says that it holds for, and those it was merged from.
    std::vector<nlohmann::json> machines() const;
};

/// Its nearest machine, part by part, beside the "machine" object `here`. Where fresh memory was
/// tuned, the mode of huge pages decides, too: the page stages differ by it, and no other copies.
/// So it makes no other machine, and the fingerprint is without it.
std::vector<Part> compare_machines(const Profile& profile, const nlohmann::json& here);
inline constexpr std::string_view kHugePages = "huge_pages"; ///< the end of such a part's name

nlohmann::ordered_json to_json(const Profile& profile);
/// The text of its file.
std::string text_of(const Profile& profile);
/// Throws BadInput, which names the place of the fault. Faults are a field that is missing, of
/// another type or not known, choices that do not ascend, and a copy that this version does not
/// know.
Profile profile_of(const nlohmann::ordered_json& json);
/// The fault that a reader would find in a profile; "" without one.
std::string fault_of(const Profile& profile);

/// A profile that speaks of the copies of another architecture.
struct OtherArchitecture : BadInput {
    using BadInput::BadInput;
};
struct NewerProfile : BadInput {
    using BadInput::BadInput;
};

/// Reads a profile. Throws BadInput with one line, as profile_of does. Throws OtherArchitecture and
/// NewerProfile for the profiles that their names say.
Profile read_profile(const std::filesystem::path& path);
/// The same of a text that was read already; errors begin with `what` ("profile x.json").
Profile parse_profile(std::string_view text, const std::string& what);

/// "0.52", "12.3", "250"; "-" for 0, where it is not known.
std::string bandwidth_text(double gb_per_s);

/// Now, as profiles write it: "2026-11-20T22:15:00Z".
std::string utc_now();

} // namespace asterope
