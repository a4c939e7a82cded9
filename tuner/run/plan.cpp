// Understands each word of the request, and refuses impossible ones before anything is timed.
#include "run/plan.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "machine/affinity.hpp"
#include "machine/numa.hpp"
#include "machine/profile_places.hpp"
#include "run/sample_log.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"
#include "space/candidates.h"
#include "space/space.hpp"
#include "timing/arena.hpp"
#include "timing/distribution.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

namespace {

/// Throws BadInput for any text but copies, alone or with the operations behind them.
std::vector<Operation> parse_operations(const std::string& text) {
    std::vector<Operation> operations;
    std::string names;
    for (const OperationFacts& one : kOperations) {
        operations.push_back(one.operation);
        names += (names.empty() ? "" : ",") + name_of(one.operation);
        if (text == names) return operations;
    }
    throw BadInput("--operations '" + text.substr(0, 40) +
                   "' cannot be tuned: choose memcpy, or memcpy,memset");
}

/// A set has one side, so a cache's size gives it no second boundary: the powers are enough.
std::vector<std::size_t> default_sizes_of(Operation operation, const Machine& machine,
                                          const Rigor& rigor) {
    std::vector<std::size_t> sizes =
        default_sizes(machine.caches, rigor.coarse_from, rigor.largest_size);
    std::erase_if(sizes, [&](std::size_t size) {
        return size > kUsualLargest && !has_room_for(size, machine);
    });
    if (!facts_of(operation).reads) {
        std::erase_if(sizes, [](std::size_t size) { return !std::has_single_bit(size); });
    }
    return sizes;
}

/// The share of the time budget that the copies may take where sets are tuned, too. Sets have the
/// rest, and the time that the copies leave.
constexpr double kShareOfCopies = 0.85;

/// Whether the extension axes are explored. Throws BadInput.
bool parse_space(const std::string& text) {
    if (text == "extended") return true;
    if (text == "paper") return false;
    throw BadInput("space '" + text.substr(0, 40) + "' is unknown: choose paper or extended");
}

/// How many threads a copy may be shared among; 0: as many as there are CPUs. Throws BadInput for
/// more threads than CPUs.
unsigned parse_threads(unsigned asked) {
    const auto cpus = static_cast<unsigned>(allowed_cpus().size());
    if (asked > cpus) {
        throw BadInput("--threads " + std::to_string(asked) + ": this process may use " +
                       std::to_string(cpus) + " of the CPUs: choose no more than that");
    }
    return std::min<unsigned>(asked ? asked : cpus, ASTEROPE_MOST_THREADS);
}

std::string hash_of(const CallStatistics& statistics) {
    std::string drawn;
    for (const Distribution* one : {&statistics.sizes, &statistics.alignments}) {
        for (const auto& [value, probability] : one->pairs()) {
            drawn += std::to_string(value) + ':' + std::to_string(probability) + ' ';
        }
    }
    return text_hash(drawn);
}

} // namespace

std::string log_of(const TuningRequest& request) {
    if (!request.log.empty()) return request.log;
    // A log cannot stand beside a device or a pipe.
    const bool beside = !request.output.empty() && is_replaceable(request.output);
    return (beside ? request.output : TuningRequest().output) + ".trials";
}

Plan::Plan(Operation of, const Plan& copies) : Plan(copies) {
    if (of == Operation::copy) return;
    operation = of;
    budget_share = 1;
    sizes = options.of(of).sizes;
    objective = objective_of_sets(copies.objective);
    extended = false;
    small_weights = asterope::small_weights(of);
    most_rows = std::min(most_rows, facts_of(of).most_rows);
    threads = 1;
    statistics = fleet_statistics(of);
    source_map.reset();
}

Plan::Plan(const TuningRequest& request, const Machine& machine)
    : options(request.options), extended(parse_space(options.space)),
      rigor(parse_rigor(options.rigor)), most_rows(options.rows), statistics(fleet_statistics()),
      log(log_of(request)), keeps_log(!request.log.empty()) {
    const bool mix =
        options.weights_given.empty() && options.workload.find('=') != std::string::npos;
    if (mix) options.weights_given = std::exchange(options.workload, "balanced");
    objective =
        parse_objective(options.weights_given.empty() ? options.workload : options.weights_given);
    if (!options.source_map.empty()) objective = for_mapped_source(std::move(objective));
    options.weights = objective.weights;
    if (request.replayed) {
        take_logged();
    } else {
        take_asked(request, machine);
    }
    sizes = options.of(operation).sizes;
    threads = options.threads;
    small_weights = options.small_weights;
    if (sizes.front() < kMinimumBytes) {
        throw BadInput("size " + format_size(sizes.front()) + " is below " +
                       format_size(kMinimumBytes) + ", where the pipelines begin");
    }
    if (options.operations.size() > 1) budget_share = kShareOfCopies;
    if (!request.time_budget.empty()) budget_seconds = parse_duration(request.time_budget);
    if (!options.source_map.empty() && !request.replayed) {
        source_map.emplace(options.source_map, sizes.back());
    }
    if (request.makes_folder) make_folder_of(request.output);
    if (!(request.replayed && request.output.empty())) require_writable(request.output);
    if (request.replayed) return;
    std::error_code unreachable; // such as links in a circle: require_writable says which
    if (request.resume && !std::filesystem::exists(log, unreachable) && !unreachable) {
        throw BadInput("there is no log " + log +
                       " to resume from: leave out --resume to start anew, or name the log of the "
                       "run that was cut short with --log");
    }
    require_writable(log);
    if (source_map) refuse_loss(request.output, source_map->file(), "the mapped source", "-o");
    for (const std::vector<ExternalCopy>& all : references) {
        for (const ExternalCopy& one : all) {
            refuse_loss(request.output, one.path, "the reference " + one.name, "-o");
        }
    }
    refuse_loss(request.output, log, "the log of this search", "-o");
    refuse_loss(request.output, request.recording, "the recording", "-o");
    // This finds another run that writes the log, before this run disturbs its timings.
    if (!request.resume) {
        require_no_sample_log(log);
    } else if (!lock_sample_log(log)) {
        throw BadInput("the log " + log + " is not a regular file: it holds nothing to resume");
    }
}

void Plan::take_asked(const TuningRequest& request, const Machine& machine) {
    options.operations = parse_operations(request.operations);
    require_use(request.references, options.operations);
    for (const Operation one : options.operations) {
        OperationOptions& own = options.of(one);
        own.sizes = request.sizes.empty() ? default_sizes_of(one, machine, rigor)
                                          : parse_size_list(request.sizes);
        if (const std::size_t count = own.sizes.size(); count > 256) { // as the schemas have it
            throw BadInput("--sizes names " + std::to_string(count) + ": choose at most 256");
        }
        auto& all = references[static_cast<std::size_t>(one)];
        all = parse_references(request.references, one);
        own.references = names_of(all);
    }
    options.interleave = read_numa_nodes(0).all.size() > 1 && memory_is_interleaved();
    options.threads = parse_threads(options.threads);
    options.small_weights = asterope::small_weights();
    if (!request.recording.empty()) statistics = recorded_statistics(request.recording);
    options.distribution = statistics.name;
    options.distribution_hash = hash_of(statistics);
}

void Plan::take_logged() {
    if (!contains(options.operations, Operation::copy)) {
        throw BadInput("its header has no memcpy among its operations");
    }
    for (const Operation one : options.operations) {
        const OperationOptions& own = options.of(one);
        if (own.sizes.empty() || !std::ranges::is_sorted(own.sizes)) {
            throw BadInput("its header has " + name_of(one) + ", but no ascending sizes of it");
        }
    }
    const auto sound = [](const auto& one) { return one.second >= 0 && one.second < 1e6; };
    if (!std::ranges::all_of(options.small_weights, sound) ||
        counting(options.small_weights).empty()) {
        throw BadInput("its header has small_weights that are all 0, below 0 or too large");
    }
    statistics.name = options.distribution; // only its name is needed: a replay draws no sizes
}

TuningRequest replayed_request(const LogHeader& header) {
    TuningRequest request;
    request.options = header.options;
    request.seed = header.seed;
    request.output.clear();
    request.quiet = true;
    request.replayed = true;
    return request;
}

std::size_t Plan::handover_size() const {
    const auto above = std::ranges::lower_bound(sizes, kLargestMixed);
    return above == sizes.end() ? sizes.back() : *above;
}

std::vector<Workload> Plan::measured() const {
    if (!facts_of(operation).reads) return {kSets.begin(), kSets.end()};
    std::vector<Workload> workloads(kMeasured.begin(), kMeasured.end());
    if (!options.source_map.empty()) {
        std::erase_if(workloads, [](Workload one) { return facts_of(one).writes_source; });
    }
    return workloads;
}

std::vector<Objective> Plan::objectives() const {
    std::vector<Objective> objectives = with_intents(objective, measured());
    if (!facts_of(operation).has_entry_points) objectives.resize(1);
    return objectives;
}

} // namespace asterope
