// The tuning run: verifies, times, searches, writes the profile and renders the routine.
#include "tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "affinity.hpp"
#include "aliased_search.hpp"
#include "arena.hpp"
#include "atomic_file.hpp"
#include "clock.hpp"
#include "distribution.hpp"
#include "error.hpp"
#include "features.hpp"
#include "interrupt.hpp"
#include "libc_copy.hpp"
#include "live_timings.hpp"
#include "machine.hpp"
#include "mix.hpp"
#include "objective.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "result_table.hpp"
#include "run_generator.hpp"
#include "search.hpp"
#include "size_text.hpp"
#include "small_search.hpp"
#include "space.hpp"
#include "trial_log.hpp"
#include "verify.hpp"
#include "version.hpp"
#include "workload.hpp"

namespace asterope {

namespace {

/// A request whose every word has been understood.
struct Plan {
    explicit Plan(const TuningRequest& request)
        : objective(parse_objective(request.workload, "")), small_objective(request.small),
          small_weights(parse_small_weights(request.small)), rigor(parse_rigor(request.rigor)),
          sizes(parse_size_list(request.sizes)),
          statistics(request.distribution.empty() ? fleet_statistics()
                                                  : read_statistics(request.distribution)) {
        if (request.space != "paper") {
            throw BadInput("space '" + request.space.substr(0, 40) + "' is unknown: choose paper");
        }
        if (sizes.front() < kMinimumBytes) {
            throw BadInput("size " + format_size(sizes.front()) + " is below " +
                           format_size(kMinimumBytes) + ", where the pipelines begin");
        }
        require_writable(request.output);
        for (const auto& [workload, weight] : objective.weights) workloads.push_back(workload);
    }

    Objective objective;
    std::vector<Workload> workloads;
    std::string small_objective;
    Weights small_weights;
    Rigor rigor;
    std::vector<std::size_t> sizes;
    CallStatistics statistics;
};

/// What is searched, less what copies wrongly here.
struct Spaces {
    std::vector<Candidate> space;
    std::vector<Entrant> entrants;
    std::vector<const asterope_small_variant*> small_space;
    std::vector<Entrant> small_entrants;
    std::vector<const asterope_aliased_variant*> aliased_space;
};

/// The indices that are not in `invalid`; what is, is noted and warned of.
template <class Name>
std::vector<Entrant> valid_entrants(std::size_t count, const std::vector<Invalid>& invalid,
                                    const Name& name, SearchFacts& facts) {
    std::vector<Entrant> entrants(count);
    std::iota(entrants.begin(), entrants.end(), 0);
    for (const Invalid& fault : invalid) {
        std::erase(entrants, static_cast<Entrant>(fault.index));
        facts.invalid.emplace_back(name(fault.index), fault.reason);
    }
    if (!invalid.empty()) {
        std::fprintf(stderr, "warning: %zu candidates copy wrongly and are left out (%s: %s)\n",
                     invalid.size(), name(invalid.front().index).c_str(),
                     invalid.front().reason.c_str());
    }
    return entrants;
}

/// Builds the spaces and proves their members right. To be called before the buffers are taken: the
/// child processes of the verification stay small.
Spaces verified_spaces(const Features& features, SearchFacts& facts) {
    Spaces spaces;
    spaces.space = paper_space(features);
    spaces.small_space = small_space(features);
    spaces.aliased_space = aliased_space(features);
    spaces.entrants = valid_entrants(
        spaces.space.size(), verify(spaces.space), [&](auto i) { return spaces.space[i].name(); },
        facts);
    spaces.small_entrants = valid_entrants(
        spaces.small_space.size(), verify(spaces.small_space, spaces.space.front().variant->copy),
        [&](auto i) { return small_name(*spaces.small_space[i]); }, facts);
    const auto right = valid_entrants(
        spaces.aliased_space.size(), verify(spaces.aliased_space),
        [&](auto i) { return aliased_name(*spaces.aliased_space[i]); }, facts);
    std::vector<const asterope_aliased_variant*> kept;
    for (const Entrant entrant : right) {
        kept.push_back(spaces.aliased_space[static_cast<std::size_t>(entrant)]);
    }
    spaces.aliased_space = kept;
    return spaces;
}

/// The winner that copies of `size` bytes take.
const Candidate& winner_for(std::size_t size, const std::vector<Candidate>& space,
                            const std::vector<SizeResult>& results) {
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const SizeResult& result) { return result.size >= size; });
    const SizeResult& result = found == results.end() ? results.back() : *found;
    return space[static_cast<std::size_t>(result.finalists.front().candidate)];
}

nlohmann::json log_header(const TuningRequest& request, const nlohmann::json& machine,
                          const SearchFacts& facts) {
    return {{"format", "asterope-trials"},  {"version", 1},
            {"tool_version", kVersion},     {"machine", machine},
            {"space", request.space},       {"candidates", facts.candidates},
            {"workload", request.workload}, {"rigor", request.rigor},
            {"seed", request.seed},         {"started", facts.started}};
}

/// The searches of one run, on one arena, with one log.
class Searches {
  public:
    Searches(const Plan& plan, const Spaces& spaces, const Machine& machine, std::uint64_t seed,
             bool quiet)
        : plan_(plan), spaces_(spaces), arena_(arena_bytes(plan.sizes.back(), machine)),
          stopwatch_(arena_, plan.sizes.back()),
          mix_(arena_, machine, plan.statistics, kLargestMixed, seed), random_(seed),
          progress_(calibrate(), quiet) {}

    void log_to(const std::string& path, const nlohmann::json& header) {
        log_ = std::make_unique<TrialLog>(path, header);
    }

    std::vector<SizeResult> pipelines() {
        LiveTimings timings(
            {[&](std::size_t size, Workload workload, Entrant entrant, std::uint64_t round) {
                 return entrant < 0 ? time_libc(size, workload, round)
                                    : time(candidate(entrant), size, workload, round);
             },
             [&](Entrant entrant) { return candidate(entrant).name(); }, calls()},
            progress_, log_.get());
        std::vector<SizeResult> results;
        Entrant neighbour = kLibc;
        for (const std::size_t size : plan_.sizes) {
            progress_.label(format_size(size));
            results.push_back(search_size(spaces_.space, spaces_.entrants, size, plan_.workloads,
                                          plan_.rigor, neighbour, random_, timings));
            neighbour = results.back().finalists.front().candidate;
        }
        trials_ += timings.trials();
        return results;
    }

    /// After the pipelines: small copies hand what is above their bound to those winners.
    SizeResult small_copies(const std::vector<SizeResult>& results) {
        progress_.label("small copies");
        const Candidate& large = winner_for(kLargestMixed, spaces_.space, results);
        const auto variant = [&](Entrant entrant) -> const asterope_small_variant& {
            return *spaces_.small_space[static_cast<std::size_t>(entrant)];
        };
        LiveTimings timings(
            {[&](std::size_t, Workload workload, Entrant entrant, std::uint64_t round) {
                 if (entrant < 0) return mix_.time(libc_mix_copy(), workload, round);
                 return mix_.time({variant(entrant).copy, large.distance(), large.variant->copy},
                                  workload, round);
             },
             [&](Entrant entrant) { return small_name(variant(entrant)); },
             [](std::size_t, Workload workload) { return MixStopwatch::calls(workload); }},
            progress_, log_.get());
        SizeResult result =
            search_small(suited(spaces_.small_entrants, spaces_.small_space, plan_.small_objective),
                         plan_.small_weights, plan_.rigor, random_, timings);
        trials_ += timings.trials();
        return result;
    }

    /// Where buffers alias. A matter of cached buffers: where memory is waited for, or written past
    /// the caches, a load that is held up costs nothing, and these would be the wrong copies.
    std::vector<AliasedSize> aliased_copies(const std::vector<SizeResult>& results) {
        std::vector<AliasedSize> found;
        const auto& workloads = plan_.workloads;
        if (spaces_.aliased_space.empty() ||
            std::find(workloads.begin(), workloads.end(), Workload::hot) == workloads.end()) {
            return found;
        }
        progress_.label("aliasing buffers");
        for (const std::size_t size : plan_.sizes) {
            const Candidate& pipeline = winner_for(size, spaces_.space, results);
            if (size < kAliasedMinimum || size > kAliasedMaximum) continue;
            if (std::string_view(pipeline.variant->st) == "NT") continue;
            const auto variant = [&](Entrant entrant) -> const asterope_aliased_variant& {
                return *spaces_.aliased_space[static_cast<std::size_t>(entrant) - 1];
            };
            LiveTimings timings(
                {[&](std::size_t, Workload workload, Entrant entrant, std::uint64_t round) {
                     if (entrant < 0) return time_libc(size, workload, round);
                     if (entrant == 0) return time(pipeline, size, workload, round);
                     return stopwatch_.time(variant(entrant).copy, 0, size, workload, round);
                 },
                 [&](Entrant entrant) {
                     return entrant == 0 ? pipeline.name() : aliased_name(variant(entrant));
                 },
                 calls()},
                progress_, log_.get());
            found.push_back(
                search_aliased(spaces_.aliased_space.size(), size, plan_.rigor, random_, timings));
            trials_ += timings.trials();
        }
        return found;
    }

    std::size_t trials() const { return trials_; }

  private:
    /// Fixes the calls of each trial. Returns the seconds that the pipelines' search may take.
    double calibrate() {
        double seconds = 0;
        for (const std::size_t size : plan_.sizes) {
            for (const Workload workload : plan_.workloads) {
                throw_if_interrupted();
                stopwatch_.calibrate(size, workload, trial_seconds(workload));
                seconds += static_cast<double>(planned_trials(plan_.rigor, spaces_.space)) *
                           stopwatch_.trial_seconds(size, workload);
            }
        }
        return seconds;
    }

    const Candidate& candidate(Entrant entrant) const {
        return spaces_.space[static_cast<std::size_t>(entrant)];
    }
    double time(const Candidate& candidate, std::size_t size, Workload workload,
                std::uint64_t round) {
        return stopwatch_.time(candidate.variant->copy, candidate.distance(), size, workload,
                               round);
    }
    double time_libc(std::size_t size, Workload workload, std::uint64_t round) {
        return stopwatch_.time(libc_copy(), 0, size, workload, round);
    }
    std::function<std::size_t(std::size_t, Workload)> calls() {
        return [this](std::size_t size, Workload workload) {
            return stopwatch_.calls(size, workload);
        };
    }

    const Plan& plan_;
    const Spaces& spaces_;
    Arena arena_;
    Stopwatch stopwatch_;
    MixStopwatch mix_;
    std::mt19937_64 random_;
    Progress progress_;
    std::unique_ptr<TrialLog> log_;
    std::size_t trials_ = 0;
};

} // namespace

void tune(const TuningRequest& request) {
    const Plan plan(request);
    const auto say = [&](const std::string& text) {
        if (!request.quiet) std::cout << text << std::flush;
    };
    catch_interrupts();

    const auto begin = std::chrono::steady_clock::now();
    SearchFacts facts;
    facts.started = utc_now();
    facts.workload = request.workload;
    facts.rigor = plan.rigor.name;
    facts.seed = request.seed;
    facts.without = request.without;

    const Machine machine = read_machine();
    const nlohmann::json machine_json = to_json(machine);
    const Features features(machine.cpu, request.without);
    facts.warnings = measurement_warnings(machine);
    for (const std::string& warning : facts.warnings) {
        if (!request.quiet) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    facts.cpu = pin_to_cpu(request.cpu);
    const Spaces spaces = verified_spaces(features, facts);
    facts.candidates = spaces.space.size();
    say(machine.cpu.brand + ", " + machine.libc + ", CPU " + std::to_string(facts.cpu) + "; " +
        std::to_string(spaces.space.size()) + " candidates a size, " +
        std::to_string(spaces.small_space.size()) + " small copies, " + plan.rigor.name +
        " search, workload " + request.workload + "\n");

    start_clock(machine.cpu.invariant_tsc);
    std::vector<SizeResult> results;
    SmallFacts small{plan.statistics.name, request.small, spaces.small_space, {}};
    AliasedFacts aliased{spaces.aliased_space, {}, {}};
    {
        Searches searches(plan, spaces, machine, request.seed, request.quiet);
        if (!request.log.empty()) {
            searches.log_to(request.log, log_header(request, machine_json, facts));
        }
        results = searches.pipelines();
        small.result = searches.small_copies(results);
        aliased.sizes = searches.aliased_copies(results);
        facts.trials = searches.trials();
    }
    aliased.choice = choose_aliased(aliased.sizes);

    facts.finished = utc_now();
    facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto profile = make_profile(machine_json, facts, spaces.space, results, small, aliased);
    write_atomically(request.output, profile.dump(2) + '\n');
    for (const std::string& table :
         {result_table(spaces.space, results), small_table(small), aliased_table(aliased)}) {
        if (!table.empty()) say('\n' + table);
    }
    say('\n' + std::to_string(facts.trials) + " trials in " + format_duration(facts.seconds) +
        "; profile: " + request.output + '\n');
    if (!request.no_generate) {
        const std::filesystem::path folder = std::filesystem::path(request.output).parent_path();
        run_generator(request.output, folder.empty() ? "." : folder, request.quiet);
    }
}

} // namespace asterope
