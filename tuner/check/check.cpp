// asterope-tune check: whether a profile still fits this machine.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "check/profile_winners.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "machine/profile_places.hpp"
#include "profile/profile.hpp"
#include "profile/provisional.hpp"
#include "run/command.hpp"

namespace asterope {

namespace {

struct Request {
    std::string profile;  ///< empty: see profile_to_read
    bool settled = false; ///< a provisional profile counts as stale
    bool measure = false; ///< time the winners again
    std::string json;     ///< the file of the verdict and the figures; empty: none
    int cpu = -1;         ///< to measure on; negative: the last one allowed
};

/// Throws BadInput if the profile does not describe its machine: a comparison would take that for
/// another machine, and the profile for stale.
void require_machine(const std::string& path, const Profile& profile,
                     const std::vector<Part>& parts) {
    const auto named = [](const nlohmann::json& one) { return one.contains("fingerprint"); };
    const auto told = [](const Part& part) { return !part.recorded.empty(); };
    if (std::ranges::any_of(profile.machines(), named) || std::ranges::any_of(parts, told)) return;
    throw BadInput("profile " + path +
                   ": does not name its machine, so nothing can tell whether it fits; make one of "
                   "this machine with asterope-tune");
}

void print_differences(const std::vector<Part>& parts, PartState state) {
    for (const Part& part : parts) {
        if (part.state == state) std::printf("  %s\n", part.difference.c_str());
    }
}

/// Sets differences apart in parts that could not be read here, as they were not seen. Returns the
/// first such part's name and the reason; empty if all parts could be read.
std::string set_unseen_apart(std::vector<Part>& parts, const Machine& machine) {
    std::string first;
    for (Part& part : parts) {
        const auto unseen = machine.unseen.find(part.name.substr(0, part.name.find('.')));
        if (part.state != PartState::decides || unseen == machine.unseen.end()) continue;
        part.state = PartState::not_readable;
        if (first.empty()) first = part.name + " (" + unseen->second + ')';
    }
    return first;
}

/// "The same: a, b", if there are any.
void print_names(const char* title, const std::vector<Part>& parts, PartState state) {
    std::string names;
    for (const Part& part : parts) {
        if (part.state == state) names += (names.empty() ? "" : ", ") + part.name;
    }
    if (!names.empty()) std::printf("%s", wrapped(std::string(title) + ": " + names).c_str());
}

/// Prints the verdict first, and a blank line before the other parts. `measures`: prints the parts
/// alone, as the verdict is still to come. `doubt`: the reason why the profile is provisional;
/// empty unless that counts as well.
void print_parts(const std::string& path, const std::vector<Part>& parts, const std::string& doubt,
                 bool measures) {
    if (contains(parts, PartState::decides, &Part::state)) {
        std::printf("%s %s:\n", path.c_str(), measures ? "describes another machine" : "is stale");
        print_differences(parts, PartState::decides);
    } else if (!doubt.empty()) {
        std::printf("%s fits this machine, but is provisional:\n", path.c_str());
    } else {
        std::printf("%s %s this machine\n", path.c_str(), measures ? "describes" : "fits");
    }
    if (!doubt.empty()) std::printf("  %s; %s\n", doubt.c_str(), kQuieter);
    std::printf("\n");
    if (contains(parts, PartState::harmless, &Part::state)) {
        std::printf("Changed, which does not matter by itself:\n");
        print_differences(parts, PartState::harmless);
    }
    print_names("Not recorded in the profile", parts, PartState::not_recorded);
    print_names("Not readable here, maybe by root", parts, PartState::not_readable);
    print_names("The same", parts, PartState::same);
}

/// Why no timing of the profile's copies can make up for a difference. Empty where it can.
std::string why_timing_does_not_tell(const std::vector<Part>& parts) {
    std::string why;
    for (const Part& part : parts) {
        if (part.state != PartState::decides) continue;
        if (part.name.starts_with("cpu.") || part.name.starts_with("caches.")) {
            return "for another processor or other caches other copies";
        }
        if (part.name.ends_with(kHugePages))
            why = "for another mode of huge pages other page stages";
    }
    return why;
}

/// Times the profile's copies again.
Retimed measure(const std::string& path, const Profile& profile, const Machine& machine, int cpu) {
    ProfileWinners winners;
    try {
        winners = winners_of(profile, granted_features(machine.cpu), why_no_sensing().empty());
    } catch (const BadInput& error) {
        throw BadInput("profile " + path + ": " + error.what());
    }
    return time_winners_again(winners, machine, cpu);
}

/// The commands that a user may run next for a stale profile. `timing_tells`: timing it again may
/// show that it still fits.
std::string next_step(const std::string& path, bool timing_tells) {
    std::string place = "-o " + shell_word(path);
    if (path == system_profile()) place = "--system";
    if (path == user_profile()) place = "--user";
    const std::string again = "asterope-tune " + place;
    if (!timing_tells) return "Next: " + again + "\n";
    return "Next: asterope-tune check --measure " + shell_word(path) + "\n  or: " + again + '\n';
}

constexpr const char* kIsStale = "The profile is stale";

/// Writes what was found. `retimed`: null where nothing was measured.
void write_json(const std::string& file, const Machine& machine, const std::vector<Part>& parts,
                const Closing& closing, const Retimed* retimed) {
    nlohmann::ordered_json report = {
        {"format", "asterope-check"},      {"version", 1},
        {"tool_version", kVersion},        {"machine", to_json(machine)},
        {"verdict", closing.line},         {"stale", closing.stale},
        {"parts", nlohmann::json::array()}};
    constexpr const char* kStates[] = {"same", "decides", "harmless", "not recorded",
                                       "not readable"};
    for (const Part& part : parts) {
        report["parts"].push_back({{"part", part.name},
                                   {"state", kStates[static_cast<int>(part.state)]},
                                   {"recorded", part.recorded},
                                   {"here", part.here}});
    }
    report["results"] = retimed ? retimed->rows : nlohmann::ordered_json::array();
    write_atomically(file, report.dump(2) + '\n');
}

/// Prints the verdict, then part by part the differences. Returns kDone or kStale. Where it
/// measures, the verdict comes last, and the measurement decides (see closing_of): it can absolve a
/// profile of another libc, memory or hypervisor. It cannot absolve one of another processor or
/// other caches, where nothing is timed. Copies that were not in the run then may be the best ones
/// now. Throws BadInput for a profile that cannot be used, and if this machine cannot be read well
/// enough to tell. With `measure` it throws Failure and Interrupted, too.
ExitCode check(const Request& request) {
    const std::string path = profile_to_read(request.profile).string();
    refuse_loss(request.json, path, "the profile", "--json");
    Profile profile;
    try {
        profile = read_profile(path);
    } catch (const OtherArchitecture&) {
        std::printf("%s is stale:\n  architecture: it is for another than %s\n\n%s",
                    Error::one_line(path).c_str(), kArchitecture, next_step(path, false).c_str());
        if (!request.json.empty()) {
            const std::vector<Part> parts = {
                {"architecture", PartState::decides, "another", kArchitecture, ""}};
            write_json(request.json, read_machine("/", request.cpu), parts, {kIsStale, true},
                       nullptr);
        }
        return kStale;
    }
    // Of several kinds of cores, the profile's kind counts, even if this runs on another.
    const int tuned_cpu = profile.search.cpu.value_or(-1);
    const Machine machine = read_machine("/", request.cpu >= 0 ? request.cpu : tuned_cpu);
    std::vector<Part> parts = compare_machines(profile, to_json(machine));
    require_machine(path, profile, parts);
    const std::string untold = set_unseen_apart(parts, machine);
    const bool differs = contains(parts, PartState::decides, &Part::state);
    if (!untold.empty() && !differs) {
        throw BadInput("cannot tell whether " + path + " fits this machine: " + untold +
                       ": run it where that can be read");
    }
    if (!request.json.empty()) require_writable(request.json);
    const std::string doubt = why_provisional(profile);
    print_parts(Error::one_line(path), parts, request.settled ? doubt : "", request.measure);
    if (!request.settled && !doubt.empty()) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", noise_warning(doubt, kTheseWinners).c_str());
    }
    const bool stale = differs || (request.settled && !doubt.empty());
    const std::string untimed = why_timing_does_not_tell(parts);
    const bool timing_tells = differs && untimed.empty();
    std::optional<Retimed> retimed;
    Closing closing = {stale ? kIsStale : "The profile fits", stale};
    if (request.measure && differs && !timing_tells) {
        closing.line = "The profile is stale: not timed, as " + untimed +
                       " may be the best; only a new search can tell";
        std::printf("\n");
    } else if (request.measure) {
        const int cpu = request.cpu < 0 && !machine.cpu.kinds.empty() ? tuned_cpu : request.cpu;
        retimed = measure(path, profile, machine, cpu);
        closing = closing_of(*retimed, stale);
    } else if (stale) {
        std::printf("\n%s", next_step(path, timing_tells).c_str());
    }
    if (request.measure) std::printf("%s\n", closing.line.c_str());
    if (!request.json.empty()) {
        write_json(request.json, machine, parts, closing, retimed ? &*retimed : nullptr);
    }
    return closing.stale ? kStale : kDone;
}

} // namespace

Subcommand add_check(CLI::App& app) {
    const auto request = std::make_shared<Request>();
    CLI::App& command = add_command(app, "check",
                                    "say whether a profile still fits this machine: exit code 0 "
                                    "fits, 3 stale, 2 unusable");
    add_option(command, "PROFILE", &request->profile,
               "the profile (default: your own, $XDG_CONFIG_HOME/asterope/profile.json, else "
               "/etc/asterope/profile.json)",
               "", {.not_empty = true});
    add_option(
        command, "--settled", &request->settled,
        "a profile that is provisional, as too much disturbed its search, counts as stale, too");
    add_option(command, "--measure", &request->measure,
               "also time its copies again, beside libc and their runners-up (20 s at "
               "most). The last line then decides, unless the processor, its caches or the mode of "
               "huge pages differ, or too little could be timed",
               "", {.excludes = {"--settled"}});
    add_option(
        command, "--json", &request->json,
        "write the verdict and the parts of the machine there, with --measure all figures, too",
        "FILE", {.not_empty = true});
    add_cpu(command, request->cpu, {.needs = {"--measure"}},
            "with --measure: run on this CPU instead of the last one allowed");
    return {command, [request] { return check(*request); }};
}

} // namespace asterope
