// The stages of a run in order, for figures of this machine and for those of a whole log.
#include "run/tuning.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/watched_run.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "machine/numa.hpp"
#include "profile/existing_profile.hpp"
#include "profile/provisional.hpp"
#include "run/built_routine.hpp"
#include "run/machine_timings.hpp"
#include "run/plan.hpp"
#include "run/result.hpp"
#include "run/steps.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

/// A run from its request to its profile. Its figures come from the machine or from a log.
class TuningRun {
  public:
    TuningRun(const TuningRequest& request, const Machine& machine)
        : request_(request), machine_(machine), plan_(request, machine),
          timings_(request.quiet, plan_.budget_seconds) {
        facts_.started = utc_now();
        facts_.space = plan_.options.space;
        facts_.source_map = plan_.options.source_map;
        facts_.rigor = plan_.rigor.name;
        facts_.seed = request.seed;
        facts_.without = plan_.options.without;
        for (const NamedReference& one : plan_.options.of(Operation::copy).references) {
            facts_.references.push_back(one.name);
        }
        facts_.budget_seconds = plan_.budget_seconds;
    }

    /// Readies all but the memory for timings on this machine: verifies the copies, loads the
    /// references, starts threads, pins itself to the CPU.
    void prepare() {
        const std::string unreadable = unreadable_part(machine_);
        if (!unreadable.empty()) throw BadInput(unreadable);
        machine_json_ = to_json(machine_);
        if (!request_.fresh) {
            refuse_worse_than_existing(request_.output, machine_json_, plan_.options,
                                       plan_.budget_seconds.has_value());
            find_standing(request_.output, machine_json_, plan_.options);
        }
        catch_interrupts();
        std::vector<std::vector<TimedCopy>> references;
        for (const Plan& plan : plans()) {
            references.push_back(load_references(plan.own_references()));
        }
        facts_.warnings = measurement_warnings(machine_);
        for (const std::string& warning : facts_.warnings) warn(warning);
        bool senses = plan_.options.sensing && plan_.objective.weights.size() > 1;
        if (senses) facts_.no_sensing = profile_name(why_no_sensing());
        senses = senses && facts_.no_sensing.empty();
        timings_.spent.enter(Step::verifying);
        for (const Plan& plan : plans()) {
            searches_.push_back({plan, Spaces(features(), plan.extended, senses, plan.operation),
                                 references[searches_.size()]});
        }
        start_threads();
        facts_.cpu = pin_to_cpu(request_.cpu); // not before: the verification takes all CPUs
        facts_.memory_nodes =
            profile_name(place_memory(read_numa_nodes(*facts_.cpu), plan_.options.interleave));
        announce();
        timings_.spent.enter(Step::building);
        start_clock(machine_.cpu.invariant_tsc);
    }

    const std::vector<Operation>& operations() const { return plan_.options.operations; }
    MachineTimings machine_timings() const {
        return {plans(), machine_, request_.seed, *facts_.cpu, timings_.budget};
    }

    RunLog open_log() const { return open_run_log(plan_.log, log_header(), request_.resume); }

    /// Keeps samples in the log from now on, and goes on with the run that began it, if any.
    void keep(RunLog& log) {
        timings_.keep(log);
        facts_.started = log.header.started;
        facts_.warnings = log.header.warnings;
        for (OperationSearch& one : searches_) one.plan.options = log.header.options;
        facts_.resumed = log.resumed;
    }

    /// Searches all operations; `examined`: those whose routine is examined. Where the time ends
    /// before the first size of an operation other than the copies, that one is left out.
    void search(Timings& figures, const std::vector<Operation>& examined,
                const BuildRoutine& build) {
        for (const OperationSearch& one : searches_) {
            if (one.plan.operation != Operation::copy) plan_roughly(timings_.progress, one);
        }
        for (OperationSearch& one : searches_) {
            try {
                OperationRun run(one, machine_, request_.seed, timings_, figures);
                run_steps(run, one.findings, contains(examined, one.plan.operation), build);
            } catch (const BudgetSpent&) {
                if (one.plan.operation == Operation::copy) {
                    throw Failure("the time budget ended before the first size was done: give "
                                  "more, with --resume to go on");
                }
                one.findings = {};
                searches_.front().findings.left_out.steps.insert(Step::memset);
            }
        }
        timings_.progress.clear();
        facts_.trials = timings_.samples();
        facts_.noise = timings_.disturbed_rounds().facts();
    }

    /// Throws Failure where a reference no longer copies right, after it has removed the log, which
    /// is still locked.
    void refuse_spoiled_figures() const {
        try {
            for (const OperationSearch& one : searches_) require_still_right(one.references);
        } catch (const Failure&) {
            remove_sample_log(plan_.log);
            throw;
        }
    }

    /// Ends the log, and writes the profile.
    void finish(RunLog& log) {
        take_end_facts();
        log.writer.finish(facts_);
        const Profile found = profile();
        if (const std::string fault = fault_of(found); !fault.empty()) {
            throw Failure("the profile would not be valid, so it is not written: " + fault +
                          ": please report this, and keep the log " + plan_.log +
                          " for it; without that log a new search may end otherwise");
        }
        write(found);
        // The user did not ask to keep it. It is still locked, so it is this run's own.
        if (!plan_.keeps_log && left_nothing()) remove_sample_log(plan_.log);
    }

    /// On the figures of a whole log. Returns the profile.
    Profile replay(const SampleLogContents& log, const std::string& what) {
        const LogHeader& header = log.header;
        if (!log.end) {
            throw BadInput(what + ": its run did not come to its end: finish it with --resume");
        }
        for (const Plan& plan : plans()) {
            searches_.push_back(
                {plan,
                 Spaces(features(), plan.extended, header.sensing, plan.operation, header.invalid),
                 logged_references(plan.options.of(plan.operation).references, plan.operation)});
        }
        if (hashes_of(searches_) != header.space_hashes) {
            throw BadInput(what + ": is of another space of candidates than this version's");
        }
        machine_json_ = header.machine;
        static_cast<RunStart&>(facts_) = header;
        announce();
        LoggedTimings whole(log.steps, what);
        std::vector<Operation> examined;
        for (const auto& [step, unused] : log.steps) {
            if (step.step == Step::exam) examined.push_back(step.operation);
        }
        search(whole, examined, nullptr);
        // These are the run's own: the time of a replay tells nothing.
        static_cast<RunEnd&>(facts_) = *log.end;
        Profile found = profile();
        // Each field of the header is sound, but their consequences may not be.
        const std::string fault = fault_of(found);
        if (fault.empty()) return found;
        throw BadInput(what + ": the profile that follows from it is not valid: " + fault +
                       ": a damaged log, or our fault: give another, or record anew");
    }

    /// The routine of the findings so far, compiled and loaded: its function of the operation. Null
    /// where the user does not want it. Null with a warning where it cannot be built.
    CopyFunction compiled(Operation operation) {
        // A routine that could not be compiled a moment ago is not tried again for the next
        // operation.
        if (request_.no_generate || !unexamined_.empty()) return nullptr;
        take_end_facts();
        try {
            return load_routine(text_of(profile()), operation, "leave it out with --no-generate");
        } catch (const Failure& error) {
            unexamined_ = error.what();
            timings_.progress.clear();
            warn("the routine was not examined: " + unexamined_);
            return nullptr;
        }
    }

    /// See result.hpp.
    void require_no_loss() const { asterope::require_no_loss(searches_, unexamined_); }

    void write(const Profile& profile) const {
        write_atomically(request_.output, text_of(profile));
        say(tables_);
        say(std::to_string(facts_.trials) + " samples in " + format_duration(facts_.seconds) +
            "; profile: " + request_.output +
            " (--verbose prints all, asterope-report draws it)\n");
        const bool renders = !request_.no_generate && is_replaceable(request_.output);
        if (request_.quiet || renders) return; // asterope-generate warns as well
        const std::string warning = noise_warning(why_provisional(profile), kTheseWinners);
        if (!warning.empty()) std::fprintf(stderr, "%s\n", warning.c_str());
    }

  private:
    void say(const std::string& text) const {
        if (!request_.quiet) std::cout << text << std::flush;
    }

    void warn(const std::string& text) const {
        if (!request_.quiet) std::fprintf(stderr, "warning: %s\n", text.c_str());
    }

    HasFeature features() const { return granted_features(machine_.cpu, plan_.options.without); }

    /// The plans of all operations, the copies' first.
    std::vector<Plan> plans() const {
        std::vector<Plan> plans;
        for (const Operation one : plan_.options.operations) plans.emplace_back(one, plan_);
        return plans;
    }
    const OperationSearch& copies() const { return searches_.front(); }

    /// Starts the threads that share copies. They inherit the CPUs of this thread, so it is pinned
    /// later.
    void start_threads() const {
        if (plan_.threads > 1 && asterope_start_threads() < plan_.threads) {
            throw Failure("cannot start " + std::to_string(plan_.threads - 1) +
                          " more threads to share copies: --threads 1 does without them");
        }
    }

    void announce() {
        for (const OperationSearch& one : searches_) {
            const Spaces::Invalids& invalid = one.spaces.invalid;
            facts_.invalid.insert(facts_.invalid.end(), invalid.begin(), invalid.end());
        }
        facts_.candidates[Operation::copy] = copies().spaces.entrants.size();
        say(machine_.cpu.brand + ", " + machine_.libc + ", CPU " + std::to_string(*facts_.cpu) +
            "; " + what_is_searched(searches_));
        if (!facts_.no_sensing.empty()) say("no copies that sense: " + facts_.no_sensing + "\n");
        if (!facts_.memory_nodes.empty()) say("memory: " + facts_.memory_nodes + "\n");
        if (!request_.verbose) return;
        say("extension axes: " + std::to_string(extension_variants(features()).size()) +
            " variants, tried around the best of the paper's space\n");
    }

    LogHeader log_header() const {
        LogHeader header;
        static_cast<RunStart&>(header) = facts_;
        header.tool_version = kVersion;
        header.machine = machine_json_;
        header.space_hashes = hashes_of(searches_);
        header.candidates = facts_.candidates.at(Operation::copy);
        header.invalid = facts_.invalid;
        header.options = plan_.options;
        header.sensing = copies().spaces.senses;
        header.seed = request_.seed;
        return header;
    }

    /// Adds the facts of the time until now: the end, or an exam whose routine is to be compiled.
    void take_end_facts() {
        facts_.finished = utc_now();
        const std::chrono::duration<double> elapsed = Clock::now() - begin_;
        facts_.seconds = elapsed.count() + timings_.recorded_seconds();
        facts_.phases = timings_.spent.phases();
    }

    /// Whether all of the planned search is done.
    bool left_nothing() const {
        return std::ranges::all_of(
            searches_, [](const OperationSearch& one) { return one.findings.left_out.empty(); });
    }

    /// The profile of the findings. This makes the tables, too, which tell the same.
    Profile profile() {
        Profile profile;
        profile.machine = machine_json_;
        profile.search = facts_;
        tables_ = '\n' + add_findings(profile, searches_, request_.verbose);
        return profile;
    }

    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin_ = Clock::now();
    const TuningRequest& request_;
    const Machine machine_;
    Plan plan_; ///< the copies'
    RunTimings timings_;
    nlohmann::json machine_json_;
    SearchFacts facts_;
    Searches searches_;
    std::string tables_;
    std::string unexamined_; ///< why the routine was not examined, where that was tried
};

void render(const TuningRequest& request) {
    if (request.no_generate) return;
    if (!is_replaceable(request.output)) {
        std::fprintf(stderr, "warning: %s is not a regular file: it gets no rendered routine\n",
                     request.output.c_str());
        return;
    }
    const std::filesystem::path folder = std::filesystem::path(request.output).parent_path();
    run_generator(request.output, folder.empty() ? "." : folder, request.quiet,
                  "the profile is written: run asterope-generate " + shell_word(request.output) +
                      " yourself");
    if (request.quiet) return;
    const std::string routine = shell_word((folder / "asterope_memcpy.c").string());
    const std::string header = folder.empty() ? "" : "-I " + shell_word(folder.string()) + ' ';
    std::printf("next: cc %sapp.c %s\n", header.c_str(), routine.c_str());
}

} // namespace

void tune(const TuningRequest& request) {
    TuningRun run(request, read_machine("/", request.cpu));
    run.prepare();
    try {
        // Memory comes first: where that fails, a log would be left that a next run must resume.
        MachineTimings figures = run.machine_timings();
        RunLog log = run.open_log();
        run.keep(log);
        try {
            run.search(figures, run.operations(), [&](Operation one) { return run.compiled(one); });
        } catch (const Interrupted&) {
            run.refuse_spoiled_figures(); // a resumed run would load its references anew
            throw;
        }
        run.refuse_spoiled_figures();
        run.finish(log);
    } catch (const Interrupted&) {
        throw Interrupted("interrupted; the same command with --resume goes on");
    }
    render(request);
    if (request.strict) run.require_no_loss();
}

int tune_watched(const TuningRequest& request) {
    return run_watched({"asterope-tune", "interrupted; the same command with --resume goes on",
                        "leave it out, or repair it, and remove the log " + log_of(request) +
                            ", which is of no use without it"},
                       [&] { return tune(request), static_cast<int>(kDone); });
}

void replay_run(const std::string& path, const TuningRequest& to) {
    refuse_loss(to.output, path, "the log", "-o");
    const SampleLogContents log = read_sample_log(path);
    TuningRequest request = replayed_request(log.header);
    request.output = to.output;
    request.quiet = to.quiet;
    request.verbose = to.verbose;
    request.no_generate = to.no_generate;
    TuningRun run(request, machine_of(log.header));
    run.write(run.replay(log, "log " + path));
    render(request);
}

Profile profile_of_log(const SampleLogContents& log, const std::string& what) {
    const TuningRequest request = replayed_request(log.header);
    return TuningRun(request, machine_of(log.header)).replay(log, what);
}

} // namespace asterope
