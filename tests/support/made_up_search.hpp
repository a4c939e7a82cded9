// Whole searches on machines whose truth is known: their logs, as a run would have written them.
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.hpp"
#include "base/version.hpp"
#include "machine/example_machine.hpp"
#include "run/plan.hpp"
#include "run/result.hpp"
#include "run/sample_log.hpp"
#include "run/steps.hpp"
#include "run/tuning.hpp"
#include "search/sensing_search.hpp"
#include "search/small_search.hpp"

namespace asterope {

/// Nanoseconds of a call: candidate's name ("libc" too), size, workload.
using Truth = std::function<double(const std::string&, std::size_t, Workload)>;

/// Times as the truth has them, and a few thousandths up and down.
class TrueFigures : public Timings {
  public:
    TrueFigures(Truth truth, std::uint64_t noise) : truth_(std::move(truth)), noise_(noise) {}

    Sample sample(const SampleRequest& asked) override {
        const auto& [copy, entrant, size, workload, round] = asked;
        const std::string shot = std::to_string(noise_) + copy.name + std::to_string(size) +
                                 std::string(name_of(workload)) + std::to_string(round);
        const double luck = std::stod("0x0." + text_hash(shot)) - 0.5;
        const double ns = truth_(copy.name, size, workload) * (1 + 0.004 * luck);
        return {std::round(ns * 1000) / 1000, 50};
    }
    ProbeTicks readings(const ProbeRequest& asked) override {
        const bool cached = asked.workload == Workload::hot;
        const bool reused = cached || asked.workload == Workload::fetch;
        ProbeTicks ticks{std::vector<double>(30, cached ? 50 : 800)};
        if (pipelines_behind(asked.probe) > 2) ticks.destination.assign(30, reused ? 50 : 800);
        return ticks;
    }
    Calibration calibration(std::size_t, Workload,
                            const std::optional<Calibration>& known) override {
        return known ? *known : Calibration{10, 1e-7};
    }

  private:
    Truth truth_;
    std::uint64_t noise_;
};

/// What all made-up searches ran on, if they do not say otherwise.
inline Machine made_up_machine() {
    Machine machine = example();
    machine.cpu.features.clear();
    machine.cpus = 2;
    machine.caches.back().bytes = 64 * kMiB;
    return machine;
}

/// Quick, of the paper's space, balanced, from 128 bytes to a mebibyte, with two threads; of
/// copies.
inline TuningRequest made_up_request() {
    TuningRequest request;
    request.options.rigor = "quick";
    request.options.operations = {Operation::copy};
    request.options.space = "paper";
    request.options.of(Operation::copy).sizes = {128, 1024, 4096, 16384, 65536, 1 << 20};
    request.options.threads = 2;
    request.options.small_weights = small_weights();
    request.options.of(Operation::set).sizes = {128, 4096, 65536, 1 << 20};
    request.replayed = true; // nothing of this machine is asked for
    request.output.clear();
    return request;
}

/// Runs it and writes its log to `path`. `noise`: which thousandths. `examines`: the routine, of
/// which nothing is compiled, takes what the truth says of "routine 1". Returns what was found of
/// the copies.
inline Findings run_made_up_search(const std::filesystem::path& path, const TuningRequest& request,
                                   const Truth& truth, std::uint64_t noise = 1,
                                   bool examines = false) {
    const Machine machine = made_up_machine();
    const Plan plan(request, machine);
    const HasFeature features = granted_features(machine.cpu, plan.options.without);
    Searches searches;
    for (const Operation one : plan.options.operations) {
        const Plan own(one, plan);
        searches.push_back(
            {own, Spaces(features, own.extended, own.options.sensing, one, Spaces::Invalids()),
             logged_references(own.options.of(one).references, one)});
    }
    LogHeader header;
    header.tool_version = kVersion;
    header.machine = to_json(machine);
    header.space_hashes = hashes_of(searches);
    header.candidates = searches.front().spaces.entrants.size();
    header.options = plan.options;
    header.sensing = plan.options.sensing;
    header.seed = request.seed;
    header.started = "2026-11-21T10:00:00Z";
    header.cpu = 1;
    TrueFigures figures(truth, noise);
    RunLog log = open_run_log(path, header, false);
    RunTimings timings(true);
    timings.keep(log);
    for (OperationSearch& one : searches) {
        OperationRun run(one, machine, request.seed, timings, figures);
        run_steps(run, one.findings, examines);
    }
    log.writer.finish({"2026-11-21T10:01:00Z", 60, {{Step::screening, 50}}, 0});
    return searches.front().findings;
}

/// Libc's times by which a copy of that name takes longer; 0: see made_up_truth.
using MadeUpFactor = std::function<double(const std::string&, std::size_t, Workload)>;

/// Libc takes a nanosecond for 10 bytes, and the copies take as long. Most take up to a fifth
/// longer by a name's luck, those of `best` by their factor at that size.
inline Truth made_up_truth(MadeUpFactor best) {
    return [best](const std::string& name, std::size_t size, Workload workload) {
        const double libc = static_cast<double>(size ? size : 64) / 10;
        if (name == "libc") return libc;
        const double factor = best(name, size, workload);
        return libc * (factor > 0 ? factor : 1.05 + 0.2 * std::stod("0x0." + text_hash(name)));
    };
}

} // namespace asterope
