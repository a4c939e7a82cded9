// The tuning run: verifies, times, searches, writes the profile and renders the routine.
#include "run/tuning.hpp"

#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/schema.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "profile/existing_profile.hpp"
#include "profile/make_profile.hpp"
#include "profile/provisional.hpp"
#include "profile/result_table.hpp"
#include "profile/short_result.hpp"
#include "run/built_routine.hpp"
#include "run/machine_timings.hpp"
#include "run/plan.hpp"
#include "run/resume.hpp"
#include "run/run_generator.hpp"
#include "run/search_steps.hpp"
#include "search/aliased_search.hpp"
#include "search/spaces.hpp"
#include "search/step.hpp"
#include "space/features.hpp"
#include "timing/clock.hpp"
#include "timing/external_copy.hpp"

namespace asterope {

namespace {

/// The machine that a log's figures are of, as far as a search must know it.
Machine machine_of(const nlohmann::json& header) {
    const nlohmann::json& json = header.at("machine");
    Machine machine;
    json.at("cpu").at("features").get_to(machine.cpu.features);
    json.at("cpu").at("brand").get_to(machine.cpu.brand);
    json.at("libc").get_to(machine.libc);
    json.at("libc_thresholds").get_to(machine.libc_thresholds);
    for (const nlohmann::json& cache : json.at("caches")) {
        machine.caches.emplace_back().bytes = cache.at("bytes");
    }
    return machine;
}

/// What is searched beside the copies: its plan, its space, what was found so far.
struct SetSearch {
    Plan plan;
    Spaces spaces;
    std::vector<TimedCopy> references;
    Findings findings = {};
};

/// Candidates of sets stand behind the operation's name in the list of those that are wrong here:
/// small copies and small sets have the same names.
std::string set_prefix() {
    return std::string(name_of(Operation::set)) + ' ';
}

/// Those of one operation.
Spaces::Invalids invalid_of(Operation operation, const Spaces::Invalids& all) {
    Spaces::Invalids own;
    const std::string prefix = set_prefix();
    for (const auto& [name, reason] : all) {
        const bool set = name.rfind(prefix, 0) == 0;
        if (set != (operation == Operation::set)) continue;
        own.emplace_back(set ? name.substr(prefix.size()) : name, reason);
    }
    return own;
}

/// A run from its request to its profile, on whatever figures it is given.
class TuningRun {
  public:
    TuningRun(const TuningRequest& request, const Machine& machine)
        : request_(request), machine_(machine), plan_(request, machine),
          budget_(plan_.budget_seconds) {
        facts_.started = utc_now();
        facts_.space = request.space;
        facts_.source_map = request.source_map;
        facts_.rigor = plan_.rigor.name;
        facts_.seed = request.seed;
        facts_.without = request.without;
        for (const Reference& one : plan_.references) {
            facts_.references.push_back(one.copy.name);
        }
        facts_.budget_seconds = plan_.budget_seconds;
    }

    /// On this machine.
    void measure() {
        const std::string unreadable = unreadable_part(machine_);
        if (!unreadable.empty()) throw BadInput(unreadable);
        machine_json_ = to_json(machine_);
        refuse_lesser_than_what_is_there();
        catch_interrupts();
        references_ = load_references(plan_.references);
        facts_.warnings = measurement_warnings(machine_);
        for (const std::string& warning : facts_.warnings) warn(warning);
        sensing_ = plan_.sensing && plan_.objective.weights.size() > 1;
        if (sensing_) facts_.no_sensing = profile_name(why_no_sensing());
        sensing_ = sensing_ && facts_.no_sensing.empty();
        spent_.enter(Step::verifying);
        const Spaces spaces(features(), plan_.extended, sensing_);
        if (contains(plan_.operations, Operation::set)) {
            const Plan plan(Operation::set, plan_);
            sets_.reset(new SetSearch{plan, Spaces(features(), false, sensing_, Operation::set),
                                      load_references(plan.references)});
        }
        start_threads();
        facts_.cpu = pin_to_cpu(request_.cpu); // not before: the verification takes all CPUs
        announce(spaces);
        const nlohmann::json header = log_header(spaces);
        std::optional<LogToResume> earlier = log_to_resume(header);
        spent_.enter(Step::building);
        start_clock(machine_.cpu.invariant_tsc);
        try {
            // What needs memory is had before there is a log that a next run would have to resume.
            auto machine = machine_timings(plan_);
            RunLog log(plan_.log, header, std::move(earlier));
            facts_.started = log.started;
            facts_.resumed = log.resumed;
            const auto timings = [&] {
                return RunTimings(*machine, spent_, log.writer, log.known, "log " + plan_.log);
            };
            try {
                RunTimings of_copies = timings();
                search(of_copies, spaces, [&](const Findings& findings) {
                    take(findings);
                    return compiled(spaces, plan_.operation);
                });
                if (sets_) {
                    machine.reset(); // its buffers are as large as those that follow
                    machine = machine_timings(sets_->plan);
                    RunTimings of_sets = timings();
                    search_sets(of_sets, [&](const Findings& findings) {
                        sets_->findings = findings;
                        return compiled(spaces, Operation::set);
                    });
                }
            } catch (const Interrupted&) {
                refuse_spoiled_figures(); // a resumed run would load its references anew
                throw;
            }
            refuse_spoiled_figures();
            finish();
            log.writer.finish({{"finished", facts_.finished},
                               {"seconds", facts_.seconds},
                               {"phases", phases_json(facts_.phases)},
                               {"resumed", facts_.resumed}});
            write(profile(spaces));
            // Whoever did not ask for the log wants it as long only as it can be of use. It is
            // still locked: it is nobody else's that is removed.
            if (!plan_.keeps_log && left_nothing()) std::filesystem::remove(plan_.log);
        } catch (const Interrupted&) {
            throw Interrupted("interrupted; the same command with --resume goes on");
        }
    }

    /// On the figures of a whole log. Returns the profile.
    Profile replay(const TrialLogContents& log, const std::string& what) {
        const nlohmann::json& header = log.header;
        if (log.end.is_null()) {
            throw BadInput(what + ": its run did not come to its end: finish it with --resume");
        }
        spent_.enter(Step::building);
        const auto invalid = header.at("invalid").get<Spaces::Invalids>();
        const Spaces spaces(features(), plan_.extended, header.at("sensing"),
                            invalid_of(Operation::copy, invalid));
        bool same_space = spaces.hash() == header.at("space_hash");
        if (contains(plan_.operations, Operation::set)) {
            const Plan plan(Operation::set, plan_);
            sets_.reset(new SetSearch{plan,
                                      Spaces(features(), false, header.at("sensing"),
                                             invalid_of(Operation::set, invalid), Operation::set),
                                      logged_references(plan.references)});
            same_space &= sets_->spaces.hash() == header.value("set_space_hash", "");
        }
        if (!same_space) {
            throw BadInput(what + ": is of another space of candidates than this version's");
        }
        machine_json_ = header.at("machine");
        refuse_lesser_than_what_is_there();
        references_ = logged_references(plan_.references);
        header.at("started").get_to(facts_.started);
        facts_.cpu = header.at("cpu");
        header.at("sensing").get_to(sensing_);
        facts_.no_sensing = header.value("no_sensing", "");
        header.at("warnings").get_to(facts_.warnings);
        announce(spaces);
        RunTimings whole(log.steps, what, spent_);
        std::optional<RunLog> copy;
        std::optional<RunTimings> writing;
        if (plan_.keeps_log) {
            copy.emplace(plan_.log, header, log_to_resume(header));
            writing.emplace(whole, spent_, copy->writer, copy->known, "log " + plan_.log);
        }
        search(writing ? *writing : whole, spaces, nullptr);
        if (sets_) {
            RunTimings sets(log.steps, what, spent_);
            if (copy) {
                writing.emplace(sets, spent_, copy->writer, copy->known, "log " + plan_.log);
            }
            search_sets(copy ? *writing : sets, nullptr);
        }
        // The run's own: a replay takes no time that would be worth a word.
        log.end.at("finished").get_to(facts_.finished);
        log.end.at("seconds").get_to(facts_.seconds);
        facts_.phases = phases_of(log.end.at("phases"));
        log.end.at("resumed").get_to(facts_.resumed);
        if (copy) copy->writer.finish(log.end);
        return profile(spaces);
    }

    /// Throws Failure unless the exam found the routine nowhere slower than libc.
    void require_no_loss() const {
        if (!findings_.exam) {
            throw Failure("--strict: the compiled routine was not examined" +
                          (unexamined_.empty() ? "" : ": " + unexamined_));
        }
        std::size_t losses = 0, cells = 0;
        const auto count = [&](const std::optional<ExamFacts>& exam) {
            if (!exam) return;
            losses += exam->losses.size();
            cells += exam->cells;
        };
        count(findings_.exam);
        if (sets_) count(sets_->findings.exam);
        if (losses == 0) return;
        throw Failure("--strict: the compiled routine is slower than libc in " +
                      std::to_string(losses) + " of " + std::to_string(cells) +
                      " situations and sizes");
    }

    void write(const Profile& profile) const {
        write_atomically(request_.output, text_of(profile));
        say(tables_);
        say(std::to_string(facts_.trials) + " trials in " + format_duration(facts_.seconds) +
            "; profile: " + request_.output +
            " (--verbose prints all, asterope-report draws it)\n");
        if (request_.quiet || !request_.no_generate) return; // asterope-generate warns as well
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

    void refuse_lesser_than_what_is_there() const {
        if (request_.force) return;
        refuse_worse_than_existing(request_.output, machine_json_, plan_.options(),
                                   plan_.budget_seconds.has_value());
    }

    Features features() const { return Features(machine_.cpu, request_.without); }

    /// Those that copies are shared among. Before this one is pinned: they may run where it may.
    void start_threads() const {
        if (plan_.threads > 1 && asterope_start_threads() < plan_.threads) {
            throw Failure("cannot start " + std::to_string(plan_.threads - 1) +
                          " threads more to share copies with: --threads 1 does without");
        }
    }

    void announce(const Spaces& spaces) {
        facts_.invalid = spaces.invalid;
        facts_.candidates = spaces.entrants.size();
        if (sets_) {
            for (const auto& [name, reason] : sets_->spaces.invalid) {
                facts_.invalid.emplace_back(set_prefix() + name, reason);
            }
        }
        say(machine_.cpu.brand + ", " + machine_.libc + ", CPU " + std::to_string(*facts_.cpu) +
            "; " + std::to_string(*facts_.candidates) + " candidates a size" +
            (plan_.extended ? " and the extension axes" : "") + ", " +
            std::to_string(spaces.small_space.size()) + " small copies, " + sets_words() +
            plan_.rigor.name + " search, workload " + plan_.objective.name + "\n");
        if (!facts_.no_sensing.empty()) say("no copies that sense: " + facts_.no_sensing + "\n");
    }

    std::string sets_words() const {
        if (!sets_) return "";
        const Spaces& sets = sets_->spaces;
        return std::to_string(sets.entrants.size() + sets.small_space.size()) + " sets, ";
    }

    std::unique_ptr<MachineTimings> machine_timings(const Plan& plan) const {
        return std::make_unique<MachineTimings>(plan, machine_, request_.seed, *facts_.cpu,
                                                budget_);
    }

    nlohmann::json log_header(const Spaces& spaces) const {
        nlohmann::json header = {{"format", kTrialLogFormat},   {"version", kTrialLogVersion},
                                 {"tool_version", kVersion},    {"machine", machine_json_},
                                 {"space_hash", spaces.hash()}, {"candidates", *facts_.candidates},
                                 {"invalid", facts_.invalid},   {"options", plan_.options()},
                                 {"sensing", sensing_},         {"seed", request_.seed},
                                 {"started", facts_.started},   {"cpu", *facts_.cpu},
                                 {"warnings", facts_.warnings}, {"architecture", kArchitecture}};
        if (!facts_.no_sensing.empty()) header["no_sensing"] = facts_.no_sensing;
        if (sets_) header["set_space_hash"] = sets_->spaces.hash();
        return header;
    }

    void search(RunTimings& timings, const Spaces& spaces, const SearchSteps::BuildRoutine& build) {
        try {
            SearchSteps searches(plan_, spaces, machine_, references_, request_.seed,
                                 request_.quiet, timings, budget_, spent_);
            take(searches.run(build));
        } catch (const BudgetSpent&) {
            throw Failure("the time budget ended before anything was timed: give more");
        }
    }

    void take(const Findings& findings) {
        findings_ = findings;
        left_out_ = findings.left_out;
        facts_.trials = findings.trials;
        facts_.noise = findings.noise.facts();
    }

    /// Behind the copies; where no time is left for them, they are left out.
    void search_sets(RunTimings& timings, const SearchSteps::BuildRoutine& build) {
        try {
            SearchSteps searches(sets_->plan, sets_->spaces, machine_, sets_->references,
                                 request_.seed, request_.quiet, timings, budget_, spent_);
            sets_->findings = searches.run(build);
            facts_.trials += sets_->findings.trials;
            findings_.noise.add(sets_->findings.noise);
            findings_.recorded_seconds += sets_->findings.recorded_seconds;
            facts_.noise = findings_.noise.facts();
        } catch (const BudgetSpent&) {
            sets_->findings = {};
            left_out_.steps.insert(Step::memset);
        }
    }

    std::optional<LogToResume> log_to_resume(const nlohmann::json& header) const {
        if (!request_.resume) return std::nullopt;
        return open_log_to_resume(plan_.log, header);
    }

    /// Throws Failure where a reference no longer copies right, after it has removed the log, which
    /// is still locked.
    void refuse_spoiled_figures() const {
        try {
            require_still_right(references_);
            if (sets_) require_still_right(sets_->references);
        } catch (const Failure&) {
            std::filesystem::remove(plan_.log);
            throw;
        }
    }

    /// What is known when the last trial is over.
    void finish() {
        facts_.finished = utc_now();
        facts_.seconds = elapsed() + findings_.recorded_seconds;
        facts_.phases = spent_.phases();
    }

    /// Of what was to be done here.
    bool left_nothing() const {
        return left_out_.empty() && (!sets_ || sets_->findings.left_out.empty());
    }

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    /// The routine of what was found so far, compiled and loaded; null where none is wanted, or
    /// where that is not to be had, which is said.
    CopyFunction compiled(const Spaces& spaces, Operation operation) {
        // What could not be compiled a moment ago is not tried again for the next operation.
        if (request_.no_generate || !unexamined_.empty()) return nullptr;
        finish();
        try {
            const std::string text = text_of(profile(spaces));
            const BuiltRoutine built(BuiltRoutine::Text{text}, "leave it out with --no-generate");
            std::string reason;
            void* library = load_library(built.library(), reason);
            if (!library) throw Failure(reason);
            // Never unloaded: its functions may be timed until the run ends.
            const std::string symbol = "asterope_" + std::string(name_of(operation));
            return reinterpret_cast<CopyFunction>(dlsym(library, symbol.c_str()));
        } catch (const Failure& error) {
            unexamined_ = error.what();
            warn("the routine was not examined: " + unexamined_);
            return nullptr;
        }
    }

    std::optional<SmallFacts> small_facts(const Plan& plan, const Spaces& spaces,
                                          const Findings& found) const {
        if (!found.small) return std::nullopt;
        return SmallFacts{plan.statistics.name, request_.small, spaces.small_space, *found.small};
    }

    /// Of what was found; and the tables, which tell the same.
    Profile profile(const Spaces& spaces) {
        const Findings& found = findings_;
        AliasedFacts aliased{spaces.aliased_space, found.aliased, choose_aliased(found.aliased)};
        const std::optional<SmallFacts> small = small_facts(plan_, spaces, found);
        std::optional<OverlappingFacts> overlapping;
        if (found.overlapping) overlapping = {spaces.overlapping_space, *found.overlapping};
        std::optional<ThreadsFacts> threads;
        if (!found.shared.empty()) {
            threads = {plan_.threads, found.shared, share_intervals(found.shared)};
        }
        Profile profile;
        profile.machine = machine_json_;
        profile.search = facts_;
        tables_ = '\n';
        tables_ += headline(found.pipelines, small, found.exam);
        if (sets_) {
            const Findings& sets = sets_->findings;
            tables_ +=
                headline(sets.pipelines, small_facts(sets_->plan, sets_->spaces, sets), sets.exam);
        }
        tables_ += request_.verbose ? all_tables(spaces, small, aliased, overlapping, threads)
                                    : '\n' + routine_rows(spaces.space, found.pipelines, small);
        tables_ += '\n' + result_sentences(found.pipelines, small, threads, left_out_, found.exam);
        profile.left_out = left_out_;
        profile.exam = found.exam;
        if (sets_ && !sets_->findings.pipelines.found.empty()) add_sets(profile);
        if (request_.timings || request_.verbose) {
            tables_ += '\n' + timings_table(facts_.phases, facts_.seconds);
        }
        add_results(profile, {spaces.space, found.pipelines, small, aliased, threads, overlapping,
                              sensing_});
        return profile;
    }

    void add_sets(Profile& profile) {
        const Findings& found = sets_->findings;
        const std::vector<Candidate>& space = sets_->spaces.space;
        const std::optional<SmallFacts> small = small_facts(sets_->plan, sets_->spaces, found);
        profile.memset = set_outcome({space, found.pipelines, small}, found.left_out, found.exam,
                                     sets_->spaces.entrants.size());
        tables_ += "\nmemset\n";
        if (request_.verbose) tables_ += '\n' + result_table(space, found.pipelines);
        if (request_.verbose && small) tables_ += '\n' + small_table(*small, Operation::set);
        if (!request_.verbose) tables_ += '\n' + routine_rows(space, found.pipelines, small);
        tables_ += '\n' + result_sentences(found.pipelines, small, std::nullopt, found.left_out,
                                           found.exam);
    }

    std::string all_tables(const Spaces& spaces, const std::optional<SmallFacts>& small,
                           const AliasedFacts& aliased,
                           const std::optional<OverlappingFacts>& overlapping,
                           const std::optional<ThreadsFacts>& threads) const {
        const PipelineFacts& pipelines = findings_.pipelines;
        std::string tables;
        for (const std::string& table :
             {result_table(spaces.space, pipelines), references_table(pipelines),
              sensing_table(pipelines), intents_table(pipelines), small ? small_table(*small) : "",
              overlapping ? overlapping_table(*overlapping) : "", aliased_table(aliased),
              threads ? threads_table(*threads) : ""}) {
            if (!table.empty()) tables += '\n' + table;
        }
        return tables;
    }

    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin_ = Clock::now();
    const TuningRequest& request_;
    const Machine machine_;
    const Plan plan_;
    std::vector<TimedCopy> references_;
    Budget budget_;
    TimeSpent spent_;
    nlohmann::json machine_json_;
    SearchFacts facts_;
    bool sensing_ = false;            ///< whether copies that sense are tried
    std::unique_ptr<SetSearch> sets_; ///< null: only copies are tuned
    LeftOut left_out_;
    Findings findings_;
    std::string tables_;
    std::string unexamined_; ///< why the routine was not examined, where that was tried
};

void render(const TuningRequest& request) {
    if (request.no_generate) return;
    if (!is_replaceable(request.output)) {
        std::fprintf(stderr, "warning: %s is no regular file: no routine is rendered from it\n",
                     request.output.c_str());
        return;
    }
    const std::filesystem::path folder = std::filesystem::path(request.output).parent_path();
    run_generator(request.output, folder.empty() ? "." : folder, request.quiet,
                  "the profile is written: run asterope-generate " + request.output + " yourself");
    if (request.quiet) return;
    std::printf("next: cc app.c %s\n", (folder / "asterope_memcpy.c").c_str());
}

} // namespace

void tune(const TuningRequest& request) {
    TuningRun run(request, read_machine("/", request.cpu));
    run.measure();
    render(request);
    if (request.strict) run.require_no_loss();
}

namespace {

/// Replays a log, `what` in messages, and hands `use` the run and its profile. Returns the request
/// that the log came from, with those parts of `request` that say where things go.
template <class Use>
TuningRequest replay_log(const TrialLogContents& log, const std::string& what,
                         const TuningRequest& request, const Use& use) {
    TuningRequest replayed = replayed_request(log.header.at("options"));
    log.header.at("seed").get_to(replayed.seed);
    replayed.output = request.output;
    replayed.log = request.log;
    replayed.resume = request.resume;
    replayed.quiet = request.quiet;
    replayed.verbose = request.verbose;
    replayed.no_generate = request.no_generate;
    replayed.force = request.force;
    TuningRun run(replayed, machine_of(log.header));
    Profile profile = run.replay(log, what);
    // The header's fields are sound each by itself, but not all that follows from them need be.
    const std::string fault = profile_fault(to_json(profile));
    if (!fault.empty()) {
        throw BadInput(what + ": the profile that follows from it is none: " + fault +
                       ": the log is damaged: give another, or record anew");
    }
    use(run, std::move(profile));
    return replayed;
}

} // namespace

void replay_run(const std::string& path, const TuningRequest& request) {
    render(replay_log(read_trial_log(path), "log " + path, request,
                      [](const TuningRun& run, const Profile& profile) { run.write(profile); }));
}

Profile profile_of_log(const TrialLogContents& log, const std::string& what) {
    TuningRequest request;
    request.output.clear();
    request.quiet = true;
    Profile derived;
    replay_log(log, what, request,
               [&](const TuningRun&, Profile profile) { derived = std::move(profile); });
    return derived;
}

} // namespace asterope
