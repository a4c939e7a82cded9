// Declares the options, and refuses suites, workloads and sizes that cannot be timed together.
#include "bench/request.hpp"

#include <algorithm>
#include <set>

#include "base/command_line.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "bench/suite.hpp"
#include "profile/profile.hpp"
#include "search/objective.hpp"

namespace asterope {

namespace {

std::vector<Workload> workloads_of(const Weights& weights) {
    std::vector<Workload> workloads;
    for (const auto& [workload, weight] : counting(weights)) workloads.push_back(workload);
    return workloads;
}

/// The workloads that a name in --suite adds to `sizes`: that workload, or all of balanced. Empty
/// for another name.
std::vector<Workload> workloads_named(const std::string& name, Operation operation) {
    const std::vector<Workload> of_sets(kSets.begin(), kSets.end());
    if (name == "balanced" && !facts_of(operation).reads) return of_sets;
    if (name == "balanced") return workloads_of(parse_objective(name).weights);
    const std::optional<Workload> single = find_workload(name);
    if (!single) return {};
    const bool timed = facts_of(operation).reads
                           ? facts_of(*single).family == WorkloadFamily::one_size
                           : contains(of_sets, *single);
    return timed ? std::vector{*single} : std::vector<Workload>{};
}

/// Throws BadInput if no size is timed under the named workload.
void refuse_untimed(Workload workload, const std::vector<std::size_t>& sizes) {
    const auto timed = [&](std::size_t size) { return is_timed_at(size, workload); };
    if (std::ranges::any_of(sizes, timed)) return;
    const WorkloadFacts& facts = facts_of(workload);
    throw BadInput("workload " + name_of(workload) + " is timed" +
                   (facts.from_bytes ? " from " + format_size(facts.from_bytes) + " up" : "") +
                   (facts.to_bytes ? " to " + format_size(facts.to_bytes) : "") +
                   ": name other --sizes");
}

[[noreturn]] void refuse_suite(const std::string& name, Operation operation) {
    const bool sets = !facts_of(operation).reads;
    std::string known;
    for (const auto& suite : kSuites) {
        if (!sets || suite.of_sets) known += std::string(suite.name) + ", ";
    }
    if (sets) {
        for (const Workload workload : kSets) known += name_of(workload) + ", ";
    } else {
        known += "a workload of one size (--help lists them), ";
    }
    throw BadInput("suite '" + name.substr(0, 40) + "' is not one of " + name_of(operation) +
                   "'s: choose " + known + "balanced or all");
}

} // namespace

void add_options(CLI::App& app, Options& options) {
    add_options(app, options.routine);
    add_options(app, options.peers);
    add_option(app, "--operation", &options.operation,
               "the function that is timed, memcpy or memset: libc's, the routine's "
               "(asterope_memset), and as peers and references functions like it; a set is "
               "timed where it needs no source",
               "NAME", {.shows_default = true});
    add_option(app, "--profile", &options.routine.profile,
               "take sizes and workload from this profile, and build the routine from it "
               "where no library is found (without FILE: from your own, "
               "$XDG_CONFIG_HOME/asterope/profile.json, else /etc/asterope/profile.json)",
               "FILE", {.value_may_be_missing = true});
    add_option(
        app, "--suite", &options.suites,
        "comma-separated; workloads: sizes and workloads in one table, with peers in one for each "
        "workload; sizes: one size at a time, by workload; aliased: the same where buffers alias "
        "modulo 4096; misalignment: a grid of misaligned sources and destinations, with peers and "
        "of memset a list; mix: copies of unpredictable sizes, as calls count, at page ends, and "
        "as bytes count; fixed: small copies of one size at a time; states: one new buffer after "
        "its first calls, cached buffers in turn with a producer's (of memset, with uncached "
        "ones), across a page's end, sizes that are all equally likely; overlap: "
        "memmove within cached buffers, shifted by 1 byte to 3 pages up and down; threads: 1 to "
        "all CPUs at once; all. Of memset there are workloads, sizes, misalignment, mix, fixed and "
        "states. Or workloads, under which it runs sizes: " +
            names_of(WorkloadFamily::one_size) +
            ", or balanced, all that count for it; else it runs sizes under the profile's "
            "workloads, or hot, hot_read, cold, consume and their walks, of memset all of its own",
        "NAMES", {.shows_default = true, .separated_by_commas = true});
    add_option(app, "--recording", &options.recording,
               "sizes of the mix as a program has them: what asterope-record wrote", "FILE");
    add_option(app, "--sizes", &options.sizes,
               "bytes a call, K, M, G for powers of 1024; mix and fixed have their own", "LIST");
    add_option(app, "--json", &options.json, "write the results there too", "FILE");
    add_option(app, "--check", &options.check,
               "exit with 1 and name the cells where the whole interval of the routine's ratio to "
               "libc, or to a faster --reference, is under MIN. From 6 rounds on, chance fails at "
               "most one in 40 of the cells whose true ratio is MIN",
               "MIN", {.within = {{0.001, 1000.0}}});
    add_option(app, "--brief", &options.brief, "print a few lines instead of the tables");
    mark_as_expert(app, {"--rounds", "--cpu", "--reference", "--recording", "--check"});
}

void resolve_operation(Options& options) {
    const std::optional<Operation> operation = find_operation(options.operation);
    if (!operation) {
        throw BadInput("operation '" + options.operation.substr(0, 40) +
                       "' is unknown: choose memcpy or memset");
    }
    options.routine.operation = *operation;
}

std::size_t Request::largest_size() const {
    std::size_t largest = 0;
    for (const auto& [suite, own] : sizes) {
        if (suite != "threads") largest = std::max(largest, own.back());
    }
    return largest;
}

Request read_request(const Options& options) {
    const Operation operation = options.routine.operation;
    Request request;
    std::set<std::string> suites;
    std::vector<Workload> singly_named;
    for (const std::string& name : options.suites) {
        const NamedSuite* suite = find_in(kSuites, name, &NamedSuite::name);
        if (name == "all") {
            for (const auto& one : kSuites) suites.insert(one.name);
        } else if (suite && (facts_of(operation).reads || suite->of_sets)) {
            suites.insert(name);
        } else {
            const std::vector<Workload> named = workloads_named(name, operation);
            if (suite || named.empty()) refuse_suite(name, operation);
            request.workloads.insert(request.workloads.end(), named.begin(), named.end());
            if (named.size() == 1) singly_named.push_back(named.front());
            suites.insert("sizes");
        }
    }
    std::vector<std::size_t> named, of_profile;
    if (!options.sizes.empty()) named = parse_size_list(options.sizes);
    if (!options.routine.profile.empty()) {
        const Profile profile = read_profile(options.routine.profile);
        if (request.workloads.empty()) {
            request.workloads = workloads_of(value_in(profile.search.weights, operation));
        }
        of_profile = profile.sizes(operation);
        if (of_profile.empty()) {
            throw BadInput("profile " + options.routine.profile +
                           " says nothing of memset: tune again, or name --sizes and no --profile");
        }
    }
    if (request.workloads.empty() && !facts_of(operation).reads) {
        request.workloads.assign(kSets.begin(), kSets.end());
    } else if (request.workloads.empty()) {
        request.workloads = {Workload::hot,       Workload::hot_read, Workload::cold,
                             Workload::cold_walk, Workload::consume,  Workload::consume_walk};
    }
    for (const auto& suite : kSuites) {
        if (!facts_of(operation).reads && !suite.of_sets) continue;
        if (!contains(suites, suite.name)) continue;
        request.sizes[suite.name] = !named.empty() ? named
                                    : suite.takes_profiles && !of_profile.empty()
                                        ? of_profile
                                        : parse_size_list(suite.sizes);
    }
    if (request.workloads.size() == 1) singly_named = request.workloads; // the profile's as well
    for (const Workload one : singly_named) {
        if (request.has("sizes")) refuse_untimed(one, request.sizes.at("sizes"));
    }
    return request;
}

} // namespace asterope
