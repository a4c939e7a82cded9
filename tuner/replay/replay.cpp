// asterope-tune replay: runs strategies against a recording, and says what each of them costs and
// how good its winners are.
#include "replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "search/contest.hpp"
#include "search/program_weights.hpp"
#include "search/size_order.hpp"
#include "search/utility.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// What one run of one strategy chose at each size, and what it took.
struct ReplayedRun {
    std::vector<Entrant> winners; ///< of the rows
    std::vector<Entrant> own;     ///< of each size for itself
    std::size_t trials;
    double seconds;
    std::size_t unrecorded;
};

/// What the log was tuned for.
Objective objective_of(const Recording& recording, const std::string& what) {
    const json& options = recording.header.at("options");
    if (options.contains("program")) {
        std::vector<std::size_t> sizes;
        for (const auto& [size, trials] : recording.sizes) sizes.push_back(size);
        return program_objective(program_of(options.at("program")), sizes);
    }
    Objective objective;
    options.at("workload").get_to(objective.name);
    for (const Workload workload : kTunable) {
        const double weight = options.at("weights").value(std::string(name_of(workload)), 0.0);
        if (weight > 0) objective.weights.emplace_back(workload, weight);
    }
    if (objective.weights.empty()) throw BadInput(what + ": its header has no weight above 0");
    double sum = 0;
    for (const auto& [workload, weight] : objective.weights) sum += weight;
    for (auto& [workload, weight] : objective.weights) weight /= sum;
    return objective;
}

/// All that was timed at every size.
std::vector<Workload> measured(const Recording& recording) {
    std::vector<Workload> workloads;
    for (const Workload workload : kMeasured) {
        if (std::all_of(recording.sizes.begin(), recording.sizes.end(), [&](const auto& size) {
                return !is_timed_at(size.first, workload) || size.second.count(workload) > 0;
            })) {
            workloads.push_back(workload);
        }
    }
    return workloads;
}

/// The candidates of one size that were timed under all workloads that count.
class Recorded {
  public:
    Recorded(const Replay& replay, std::size_t size,
             const std::map<Workload, RecordedField>& fields)
        : replay_(replay), fields_(fields), weights_(weights_at(size, replay.objective.weights)) {}

    bool operator()(Entrant entrant) const {
        return std::all_of(weights_.begin(), weights_.end(), [&](const auto& weighted) {
            return replay_.space.samples(fields_.at(weighted.first), entrant) != nullptr;
        });
    }

    /// The median logarithm of libc's time over its own.
    double log_ratio(Entrant entrant, Workload workload) const {
        const auto& samples = *replay_.space.samples(fields_.at(workload), entrant);
        return median({samples.begin(), samples.end()});
    }

    /// Mean over the workloads of what that is worth.
    double score(Entrant entrant) const {
        double sum = 0;
        for (const auto& [workload, weight] : weights_) {
            sum += weight * utility(log_ratio(entrant, workload));
        }
        return sum;
    }

    const Weights& weights() const { return weights_; }

  private:
    const Replay& replay_;
    const std::map<Workload, RecordedField>& fields_;
    const Weights weights_; ///< at that size
};

/// Sees to it that only candidates are offered that were recorded. (Rejected: to make up timings
/// for the others. No search can choose what it is not offered, so its regret is the truth about
/// all that is known; made-up timings would be one about nothing.)
class RecordedExtension {
  public:
    RecordedExtension(const Extension& whole, const Recorded& recorded) {
        extension_.neighbours = only(whole.neighbours, recorded);
        extension_.distance_grid = only(whole.distance_grid, recorded);
    }
    RecordedExtension(const RecordedExtension&) = delete;
    RecordedExtension& operator=(const RecordedExtension&) = delete;

    const Extension& get() const { return extension_; }
    std::size_t left_out() const { return left_out_.size(); }

  private:
    using Offer = std::function<std::vector<Entrant>(Entrant)>;

    Offer only(const Offer& offer, const Recorded& recorded) {
        return [this, offer, recorded](Entrant entrant) {
            std::vector<Entrant> offered = offer(entrant);
            std::erase_if(offered, [&](Entrant one) {
                if (recorded(one)) return false;
                left_out_.insert(one);
                return true;
            });
            return offered;
        };
    }

    Extension extension_;
    std::set<Entrant> left_out_;
};

/// The pipeline of each size, once rows are chosen from a contest as a run does it; without copies
/// that sense, as recordings have no readings of probes. Each size's own winner where too little
/// was recorded at all sizes.
std::vector<Entrant> winners_of_rows(const Replay& replay, const Rigor& rigor,
                                     const std::vector<Weights>& objectives,
                                     const std::vector<Found>& found, std::uint64_t seed,
                                     RecordedTimings& timings) {
    const Spaces& spaces = replay.space.spaces();
    std::vector<Entrant> winners;
    const Entrant plain = find_plain_copy(spaces.space, spaces.entrants);
    const StandardPipelines standard(spaces.space, [&](Entrant) { return true; });
    std::vector<Entrant> contestants =
        choose_contestants(found, objectives, spaces.space, standard, plain, rigor.contestants);
    for (const Found& one : found) {
        const SizeResult& own = one.results.front();
        winners.push_back(own.finalists.front().candidate);
        const Recorded recorded(replay, own.size, replay.recording.sizes.at(own.size));
        std::erase_if(contestants, [&](Entrant entrant) { return !recorded(entrant); });
    }
    if (contestants.empty()) return winners;
    std::vector<SizeScores> scores;
    for (const Found& one : found) {
        const std::size_t size = one.results.front().size;
        std::mt19937_64 random = named_random(seed, "rows " + std::to_string(size));
        Race race(size, objectives.front(), random, replay.space.timed(timings, size));
        scores.push_back(scores_of(race.run_off(contestants, rigor.contest_rounds, kLibc, plain),
                                   objectives.front(), contestants));
    }
    RowRules rules;
    rules.pipeline_prices = prices_of(contestants, standard, plain);
    for (const Row& row : choose_rows(scores, rules)) {
        for (std::size_t i = row.first; i <= row.last; ++i) {
            winners[i] = contestants[row.copy.pipelines.front()];
        }
    }
    return winners;
}

ReplayedRun run_once(const Replay& replay, const Rigor& rigor, std::uint64_t seed) {
    const Recording& recording = replay.recording;
    const Spaces& spaces = replay.space.spaces();
    const std::vector<Weights> objectives =
        weights_of(with_intents(replay.objective, measured(recording)));
    std::vector<std::size_t> sizes;
    for (const auto& [size, fields] : recording.sizes) sizes.push_back(size);

    RecordedTimings timings(recording, replay.space, seed);
    std::vector<std::vector<Entrant>> winners(sizes.size()); // by objective
    std::vector<bool> done(sizes.size());
    ReplayedRun run{{}, std::vector<Entrant>(sizes.size()), 0, 0, 0};
    std::vector<Found> found_at(sizes.size());
    for (const std::size_t index : coarse_to_fine(sizes.size())) {
        const std::size_t size = sizes[index];
        const Recorded recorded(replay, size, recording.sizes.at(size));
        std::vector<Entrant> entrants = spaces.entrants;
        std::erase_if(entrants, [&](Entrant entrant) { return !recorded(entrant); });
        RecordedExtension extension(spaces.extension, recorded);
        std::vector<std::vector<Entrant>> neighbours(objectives.size());
        for (const std::size_t other : nearest_done(done, index)) {
            for (std::size_t i = 0; i < objectives.size(); ++i) {
                if (recorded(winners[other][i])) neighbours[i].push_back(winners[other][i]);
            }
        }
        std::mt19937_64 random = named_random(seed, "pipelines " + std::to_string(size));
        const Found found =
            search_size(spaces.space, entrants, replay.extended ? &extension.get() : nullptr, size,
                        objectives, rigor, neighbours, random, replay.space.timed(timings, size));
        for (const SizeResult& result : found.results) {
            winners[index].push_back(result.finalists.front().candidate);
        }
        run.own[index] = winners[index].front();
        run.unrecorded += extension.left_out();
        done[index] = true;
        found_at[index] = found;
    }
    run.winners = winners_of_rows(replay, rigor, objectives, found_at, seed, timings);
    run.trials = timings.trials();
    run.seconds = timings.wall_seconds();
    return run;
}

/// Fills in what the winners tell.
ReplayedStrategy judge(const Replay& replay, const std::string& name,
                       const std::vector<ReplayedRun>& runs, const ReplayedRun& reference) {
    ReplayedStrategy strategy;
    strategy.name = name;
    const auto count = static_cast<double>(runs.size());
    for (const ReplayedRun& run : runs) {
        strategy.trials += static_cast<double>(run.trials) / count;
        strategy.seconds += run.seconds / count;
        strategy.unrecorded += static_cast<double>(run.unrecorded) / count;
    }
    std::size_t index = 0;
    for (const auto& [size, fields] : replay.recording.sizes) {
        const Recorded recorded(replay, size, fields);
        const double best = recorded.score(reference.own[index]);
        double low = 0, high = 0;
        for (const auto& [workload, weight] : recorded.weights()) {
            if (weight == 0) continue;
            std::vector<double> ratios;
            for (const ReplayedRun& run : runs) {
                ratios.push_back(recorded.log_ratio(run.winners[index], workload));
            }
            const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
            const double difference = std::expm1(*most - *least);
            if (strategy.cell_size == 0 || difference > strategy.cell_difference) {
                strategy.cell_difference = difference;
                strategy.cell_size = size;
            }
        }
        strategy.winners.emplace_back();
        for (const ReplayedRun& run : runs) {
            const double score = recorded.score(run.winners[index]);
            const double regret = std::max(0.0, std::expm1(best - score));
            const bool first = strategy.winners.back().empty();
            low = first ? score : std::min(low, score);
            high = first ? score : std::max(high, score);
            strategy.winners.back().push_back({run.winners[index], regret});
            strategy.mean_regret +=
                regret / count / static_cast<double>(replay.recording.sizes.size());
            if (strategy.worst_size == 0 || regret > strategy.worst_regret) {
                strategy.worst_regret = regret;
                strategy.worst_size = size;
            }
        }
        const double difference = std::expm1(high - low);
        if (strategy.difference_size == 0 || difference > strategy.difference) {
            strategy.difference = difference;
            strategy.difference_size = size;
        }
        ++index;
    }
    std::size_t pairs = 0, same = 0;
    for (std::size_t a = 0; a < runs.size(); ++a) {
        std::set<Entrant> pipelines(runs[a].winners.begin(), runs[a].winners.end());
        strategy.pipelines += static_cast<double>(pipelines.size()) / count;
        for (std::size_t b = 0; b < a; ++b) {
            for (std::size_t i = 0; i < index; ++i, ++pairs) {
                same += runs[a].winners[i] == runs[b].winners[i];
            }
        }
    }
    if (pairs > 0) strategy.same = static_cast<double>(same) / static_cast<double>(pairs);
    return strategy;
}

/// A word of the header's about the machine.
std::string machine_word(const Recording& recording, const char* where) {
    return recording.header.at(json::json_pointer(where)).get<std::string>().substr(0, 80);
}

} // namespace

Replay::Replay(const ReplayRequest& request, const Recording& recording)
    : recording(recording), space(recording, "log " + request.log), seeds(request.seeds) {
    const std::string what = "log " + request.log;
    const Objective recorded = objective_of(recording, what);
    const std::vector<Workload> timed = measured(recording);
    const auto counted = [&](const Objective& one, Workload workload) {
        return std::any_of(one.weights.begin(), one.weights.end(),
                           [&](const auto& pair) { return pair.first == workload; });
    };
    objective = recorded;
    if (!request.workload.empty() || !request.weights.empty()) {
        objective = parse_objective(request.workload.empty() ? "balanced" : request.workload,
                                    request.weights);
    }
    for (const auto& [workload, weight] : objective.weights) {
        if (!counted(recorded, workload) || !contains(timed, workload)) {
            throw BadInput(what + ": every candidate was timed under " + recorded.name +
                           " only, without " + std::string(name_of(workload)) +
                           ": choose a workload that was");
        }
    }

    if (request.space != "" && request.space != "paper" && request.space != "extended") {
        throw BadInput("space '" + request.space.substr(0, 40) +
                       "' is unknown: choose paper or extended");
    }
    extended = request.space.empty() ? space.extended() : request.space == "extended";
    if (extended && !space.extended()) {
        throw BadInput(what + ": is of the paper's space only: choose --space paper");
    }

    for (const std::string& name : request.rigors) rigors.push_back(parse_rigor(name));
    if (rigors.empty()) throw BadInput("no strategy to replay: choose quick, standard, exhaustive");
    if (seeds < 1 || seeds > 1000) {
        throw BadInput("seeds " + std::to_string(seeds) + ": choose 1 to 1000");
    }

    for (const auto& [size, fields] : recording.sizes) {
        const Recorded was_recorded(*this, size, fields);
        const auto& entrants = space.spaces().entrants;
        if (std::none_of(entrants.begin(), entrants.end(), was_recorded)) {
            throw BadInput(what + ": has no timings of the paper's space at " + format_size(size));
        }
    }
}

std::vector<ReplayedStrategy> Replay::run() const {
    const Rigor exhaustive = parse_rigor("exhaustive");
    const ReplayedRun reference = run_once(*this, exhaustive, 1);
    std::vector<ReplayedStrategy> strategies;
    for (const Rigor& rigor : rigors) {
        std::vector<ReplayedRun> runs;
        for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(seeds); ++seed) {
            const bool same = rigor.name == exhaustive.name && seed == 1;
            runs.push_back(same ? reference : run_once(*this, rigor, seed));
        }
        strategies.push_back(judge(*this, rigor.name, runs, reference));
    }
    return strategies;
}

std::string replay_table(const Replay& replay, const std::vector<ReplayedStrategy>& strategies) {
    const auto& sizes = replay.recording.sizes;
    std::string out;
    append(out, "%s, %s: %zu sizes from %s to %s recorded, workload %s, %s space, %d seed%s\n\n",
           machine_word(replay.recording, "/machine/cpu/brand").c_str(),
           machine_word(replay.recording, "/machine/libc").c_str(), sizes.size(),
           format_size(sizes.begin()->first).c_str(), format_size(sizes.rbegin()->first).c_str(),
           replay.objective.name.substr(0, 40).c_str(), replay.extended ? "extended" : "paper",
           replay.seeds, replay.seeds == 1 ? "" : "s");
    append(out, "%-10s %8s %11s  %-30s %-17s %-19s %s\n", "Strategy", "trials", "time",
           "regret: mean, worst (at)", "seeds differ by", "in a situation by", "same");
    const auto at = [](double share, std::size_t size) {
        std::string text;
        append(text, "%5.2f %% (%s)", 100 * share, format_size(size).c_str());
        return text;
    };
    for (const ReplayedStrategy& one : strategies) {
        append(out, "%-10s %8.0f %11s  %6.2f %% %-21s %-17s %-19s %3.0f %%\n", one.name.c_str(),
               one.trials, format_duration(one.seconds).c_str(), 100 * one.mean_regret,
               at(one.worst_regret, one.worst_size).c_str(),
               at(one.difference, one.difference_size).c_str(),
               at(one.cell_difference, one.cell_size).c_str(), 100 * one.same);
    }
    out +=
        "\ntrials, time: of a run; the trials' wall time as recorded, without verification,\n"
        "calibration, sensing, boundaries and small copies. regret: how much longer a size's row\n"
        "takes than what the exhaustive search chose for that size alone, as losses weigh, by the\n"
        "medians of all that was recorded. same: sizes at which two seeds take the same "
        "pipeline.\n";
    for (const ReplayedStrategy& one : strategies) {
        if (one.unrecorded >= 0.5) {
            append(out, "%s would have tried %.0f more candidates, which were not recorded.\n",
                   one.name.c_str(), one.unrecorded);
        }
    }
    return out;
}

nlohmann::ordered_json to_json(const Replay& replay,
                               const std::vector<ReplayedStrategy>& strategies) {
    nlohmann::ordered_json out;
    out["format"] = "asterope-replay";
    out["version"] = 1;
    out["tool_version"] = kVersion;
    out["log"] = replay.recording.header;
    out["workload"] = replay.objective.name;
    for (const auto& [workload, weight] : replay.objective.weights) {
        out["weights"][std::string(name_of(workload))] = weight;
    }
    out["space"] = replay.extended ? "extended" : "paper";
    out["seeds"] = replay.seeds;
    out["strategies"] = nlohmann::ordered_json::array();
    for (const ReplayedStrategy& one : strategies) {
        nlohmann::ordered_json strategy;
        strategy["name"] = one.name;
        strategy["trials"] = one.trials;
        strategy["seconds"] = one.seconds;
        strategy["regret"] = {
            {"mean", one.mean_regret}, {"worst", one.worst_regret}, {"worst_size", one.worst_size}};
        strategy["difference"] = {{"largest", one.difference}, {"size", one.difference_size}};
        strategy["cell_difference"] = {{"largest", one.cell_difference}, {"size", one.cell_size}};
        strategy["same"] = one.same;
        strategy["pipelines"] = one.pipelines;
        strategy["unrecorded"] = one.unrecorded;
        std::size_t index = 0;
        for (const auto& [size, fields] : replay.recording.sizes) {
            nlohmann::ordered_json winners = nlohmann::ordered_json::array();
            for (const ReplayedWinner& winner : one.winners[index]) {
                const auto place = static_cast<std::size_t>(winner.candidate);
                winners.push_back(
                    nlohmann::ordered_json{{"candidate", replay.space.spaces().space[place].name()},
                                           {"regret", winner.regret}});
            }
            strategy["sizes"].push_back(
                nlohmann::ordered_json{{"size", size}, {"winners", winners}});
            ++index;
        }
        out["strategies"].push_back(strategy);
    }
    return out;
}

void replay(const ReplayRequest& request) {
    if (!request.json.empty()) require_writable(request.json);
    const Recording recording(request.log);
    for (const std::string& warning : recording.warnings) {
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    const Replay replay(request, recording);
    const std::vector<ReplayedStrategy> strategies = replay.run();
    if (!request.json.empty()) {
        write_atomically(request.json, to_json(replay, strategies).dump(2) + '\n');
    }
    std::cout << replay_table(replay, strategies);
}

} // namespace asterope
