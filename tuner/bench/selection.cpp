// Each copy is loaded and checked; a copy that fails is left out with its reason.
#include "bench/selection.hpp"

#include <algorithm>
#include <dlfcn.h>

#include "base/command_line.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/watched_run.hpp"
#include "bench/cell.hpp"
#include "timing/correctness.hpp"
#include "timing/external_copy.hpp"
#include "timing/timed_copy.hpp"
#include "timing/workload.hpp"

namespace asterope {

namespace {

/// An entry point of the routine's library besides the one that is compared.
struct EntryPoint {
    std::string suffix;                 ///< of the routine's names, here and in its library
    std::string what;                   ///< for --peer list and legends
    std::vector<std::string> workloads; ///< that it is meant for; empty: all
    bool threaded = false;
};

std::vector<std::string> fresh_workloads() {
    std::vector<std::string> names;
    for (const WorkloadFacts& facts : kWorkloads) {
        if (facts.fresh) names.emplace_back(facts.name);
    }
    return names;
}

std::vector<EntryPoint> entry_points() {
    std::vector<EntryPoint> points;
    for (const Workload told : workloads_with<&WorkloadFacts::entry_point>()) {
        const std::string name = name_of(told);
        points.push_back({'_' + name, "the routine told the workload", {name}});
        for (const WorkloadFacts& other : kWorkloads) {
            if (other.told_as == name) points.back().workloads.emplace_back(other.name);
        }
    }
    points.push_back(
        {"_fresh", "the routine told that the destination is fresh", fresh_workloads()});
    points.push_back({"_mt", "the routine over threads", {}, true});
    return points;
}

/// The names of all built-in copies, whether they can be timed or not.
std::vector<std::string> known_names(const std::vector<Peer>& peers) {
    std::vector<std::string> names;
    for (const EntryPoint& point : entry_points()) names.push_back(kRoutineName + point.suffix);
    for (const Peer& peer : peers) names.push_back(peer.name);
    return names;
}

/// Adds it, or the reason why it is left out, where there is one.
void add(Selection& selection, Contender contender, const std::string& reason) {
    if (!reason.empty()) {
        selection.left_out.push_back({contender.name, reason});
        return;
    }
    if (contender.threaded) { // long enough for it to start its threads
        std::vector<char> source(std::size_t{16} << 20, 1), destination(source.size());
        contender.copy(destination.data(), source.data(), source.size(), 0);
    }
    selection.contenders.push_back(std::move(contender));
}

void add_loaded(Selection& selection, const ExternalCopy& peer, Contender contender) {
    std::string reason;
    contender.copy = load_checked(peer, reason);
    add(selection, std::move(contender), reason);
}

std::string origin_of(const ExternalCopy& copy) {
    return copy.symbol + " of " + copy.path;
}

/// The built-in copies that some --peer names: "all", or names separated by commas, in the order of
/// `known`. Names with a '=' are external libraries. Throws BadInput for an unknown name.
std::vector<std::string> built_in_names(const std::vector<std::string>& peers,
                                        const std::vector<std::string>& known) {
    std::vector<std::string> asked;
    for (const std::string& text : peers) {
        if (contains(text, '=')) continue;
        for (const std::string_view name : split(text, ',')) asked.emplace_back(name);
    }
    if (asked == std::vector<std::string>{"all"}) return known;
    for (const std::string& name : asked) {
        if (contains(known, name)) continue;
        throw BadInput("--peer '" + name.substr(0, 40) +
                       "' is neither a built-in copy ('--peer list' shows them) nor " +
                       kExternalCopyForm);
    }
    std::vector<std::string> chosen;
    for (const std::string& name : known) {
        if (contains(asked, name)) chosen.push_back(name);
    }
    return chosen;
}

} // namespace

Contender libc_contender(const std::string& libc, Operation operation) {
    return {.name = libc.substr(0, libc.find(' ')),
            .description = libc + "'s " + name_of(operation) + " as it is",
            .copy = libc_of(operation),
            .move = operation == Operation::copy ? libc_move() : nullptr};
}

Contender routine_contender(const RoutineOptions& routine) {
    const std::string path = routine_library(routine), symbol = routine.symbol();
    const bool sets = !facts_of(routine.operation).reads;
    std::string reason;
    void* library = load_library(path, reason);
    if (!library) throw BadInput("cannot load the routine: " + reason);
    const auto find = [&](const std::string& name) {
        return reinterpret_cast<CopyFunction>(dlsym(library, name.c_str()));
    };
    const CopyFunction function = find(symbol), move = sets ? nullptr : find("asterope_memmove");
    if (!function) {
        const std::string tune =
            sets ? ", and a profile in which " + name_of(routine.operation) + " was tuned adds it"
                 : "";
        throw BadInput(path + " has no function " + symbol + ": 'nm -D " + path +
                       "' lists what it has" + tune);
    }
    std::string fault = fault_of([&](std::string&) { return function; }, routine.operation);
    if (!fault.empty()) {
        throw Failure("the routine " + symbol + (sets ? " sets" : " copies") + " wrong: " + fault);
    }
    if (move) fault = fault_of([&](std::string&) { return move; }, Operation::copy, true);
    if (!fault.empty()) throw Failure("the memmove of " + path + " is wrong: " + fault);
    note_origin(kRoutineName, symbol + " of " + path);
    return {.name = kRoutineName,
            .description = symbol + ", the routine",
            .copy = function,
            .move = move,
            .ours = true};
}

void add_options(CLI::App& app, PeerOptions& options) {
    add_option(app, "--peer", &options.peers,
               "a copy (or set) to time side by side with the routine and libc: built-in ones by "
               "comma-separated names, all, or list to see them, or one more from a shared object; "
               "may be repeated. A peer that is missing, or fails before the timing, is named and "
               "left out; one that fails later ends the run",
               std::string("NAMES|") + kExternalCopyForm, {.may_be_repeated = true});
    add_option(app, "--reference", &options.references,
               "one more copy that the routine is judged by, such as a newer glibc's memcpy in a "
               "shared object: in the summary's worst ratio, --brief and --check, the better of "
               "libc and the references counts; may be repeated. One that cannot be used ends the "
               "run",
               kExternalCopyForm, {.may_be_repeated = true});
}

std::string list_peers() {
    std::string out;
    const auto line = [&](const std::string& name, const std::string& text) {
        out += name + std::string(name.size() < 32 ? 32 - name.size() : 1, ' ') + text + '\n';
    };
    for (const EntryPoint& point : entry_points()) {
        line(kRoutineName + point.suffix,
             point.what + (point.workloads.empty() ? "" : ": " + point.workloads.front()) +
                 ", where its library has that");
    }
    for (const Peer& peer : built_in_peers()) {
        line(peer.name, peer.missing.empty() ? peer.description : "left out: " + peer.missing);
    }
    return out;
}

Selection choose(const PeerOptions& options, const RoutineOptions& routine,
                 const std::string& libc) {
    const std::vector<Peer> peers = built_in_peers();
    const std::vector<std::string> built_in = built_in_names(options.peers, known_names(peers));
    const Operation operation = routine.operation;
    if (operation != Operation::copy && !built_in.empty()) {
        throw BadInput("--peer " + built_in.front() + " is a copy, and " + name_of(operation) +
                       " is timed: name functions like it by " + kExternalCopyForm);
    }
    const Contender libcs = libc_contender(libc, operation);
    std::vector<std::string> names = {libcs.name, kRoutineName};
    names.insert(names.end(), built_in.begin(), built_in.end());
    std::vector<std::string> others;
    std::ranges::copy_if(options.peers, std::back_inserter(others),
                         [](const std::string& text) { return contains(text, '='); });
    const auto loaded = parse_external_copies(others, "--peer", names, operation);
    for (const ExternalCopy& peer : loaded) names.push_back(peer.name);
    constexpr const char* kReferences = "--reference"; // of whichever operation
    const auto references =
        parse_external_copies(options.references, kReferences, names, operation);

    Selection selection;
    selection.contenders = {libcs, routine_contender(routine)};
    for (const ExternalCopy& reference : references) {
        selection.contenders.push_back({reference.name, origin_of(reference) + ", a reference",
                                        load_required(reference, kReferences)});
        selection.contenders.back().reference = true;
    }
    for (const EntryPoint& point : entry_points()) {
        const std::string name = kRoutineName + point.suffix;
        if (!contains(built_in, name)) continue;
        const std::string symbol = routine.symbol() + point.suffix;
        Contender contender{name, symbol + ", " + point.what, nullptr, point.threaded};
        contender.workloads = point.workloads;
        contender.ours = true;
        add_loaded(selection, {name, routine_library(routine), symbol}, std::move(contender));
    }
    for (const Peer& peer : peers) {
        if (!contains(built_in, peer.name)) continue;
        add(selection, {peer.name, peer.description, peer.copy},
            !peer.missing.empty() ? peer.missing
                                  : fault_of([&](std::string&) { return peer.copy; }));
    }
    for (const ExternalCopy& peer : loaded) {
        add_loaded(selection, peer, {peer.name, origin_of(peer), nullptr});
    }
    return selection;
}

void require_still_right(const Contenders& contenders, Operation operation) {
    for (const Contender& one : contenders) {
        const std::string fault = fault_since(one.copy, one.name, operation);
        if (fault.empty()) continue;
        throw Failure(one.name + " copied right before it was timed, and copies wrong since: " +
                      fault + ": its figures are worth nothing; leave it out, or repair it");
    }
}

} // namespace asterope
