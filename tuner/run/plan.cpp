// The plan: a tuning request whose every word has been understood.
#include "run/plan.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "machine/affinity.hpp"
#include "machine/profile_places.hpp"
#include "run/trial_log.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"
#include "space/candidates.h"
#include "space/space.hpp"
#include "timing/distribution.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

namespace {

/// Throws BadInput where a word is none, and where copies are missing: a routine is one of memcpy.
std::vector<Operation> parse_operations(const std::string& text) {
    std::vector<Operation> operations;
    std::string_view rest = text;
    while (true) {
        const std::string_view item = rest.substr(0, rest.find(','));
        const auto operation = find_operation(item);
        if (!operation) {
            throw BadInput("--operations '" + std::string(item.substr(0, 40)) +
                           "' is none: choose memcpy, or memcpy,memset");
        }
        if (!contains(operations, *operation)) operations.push_back(*operation);
        if (item.size() == rest.size()) break;
        rest.remove_prefix(item.size() + 1);
    }
    if (!contains(operations, Operation::copy)) {
        throw BadInput("--operations " + text.substr(0, 40) +
                       ": a routine always has memcpy: choose memcpy, or memcpy,memset");
    }
    std::ranges::sort(operations);
    return operations;
}

/// Those that were given; of the default sizes the powers of two: a set has one side, and no second
/// boundary at a cache's size.
std::vector<std::size_t> sizes_of_sets(const TuningRequest& request, const Machine& machine) {
    if (request.replayed) {
        if (request.set_sizes.empty() &&
            contains(parse_operations(request.operations), Operation::set)) {
            throw BadInput("its header has memset, but no set_sizes");
        }
        return request.set_sizes;
    }
    if (!request.sizes.empty()) return parse_size_list(request.sizes);
    std::vector<std::size_t> sizes = default_sizes(machine.caches);
    std::erase_if(sizes, [](std::size_t size) { return !std::has_single_bit(size); });
    return sizes;
}

/// What the copies may take of the time budget where sets are tuned, too.
constexpr double kShareOfCopies = 0.85;

/// A set has few ways; each row is code that a program has to keep in its first cache.
constexpr std::size_t kMostSetRows = 4;

/// Whether the extension axes are explored. Throws BadInput.
bool parse_space(const std::string& text) {
    if (text == "extended") return true;
    if (text == "paper") return false;
    throw BadInput("space '" + text.substr(0, 40) + "' is unknown: choose paper or extended");
}

/// How many threads a copy may be shared among. Throws BadInput for more than there are CPUs for.
unsigned threads_of(const TuningRequest& request) {
    if (request.replayed) return request.threads;
    const auto cpus = static_cast<unsigned>(allowed_cpus().size());
    if (request.threads > cpus) {
        throw BadInput("--threads " + std::to_string(request.threads) + ": this process may use " +
                       std::to_string(cpus) + " of the CPUs: choose no more than that");
    }
    return std::min<unsigned>(request.threads ? request.threads : cpus, ASTEROPE_MOST_THREADS);
}

/// What small copies were chosen by in a search with these options, in the order in which they are
/// timed: logs need not keep it. Throws BadInput.
Weights logged_small_weights(const SearchOptions& options) {
    Weights weights;
    for (const auto& one : small_weights()) {
        const auto* logged = find_in(options.small_weights, one.first, &Weights::value_type::first);
        if (logged) weights.push_back(*logged);
    }
    const auto sound = [](const auto& one) { return one.second >= 0 && one.second < 1e6; };
    if (std::ranges::all_of(weights, sound) && !counting(weights).empty()) return weights;
    throw BadInput("its header has small_weights that are none");
}

CallStatistics statistics_of(const TuningRequest& request) {
    if (!request.recording.empty()) return recorded_statistics(request.recording);
    if (request.replayed) { // none is drawn from: only its name is wanted
        CallStatistics statistics = fleet_statistics();
        statistics.name = request.distribution;
        return statistics;
    }
    return fleet_statistics();
}

} // namespace

std::string log_of(const TuningRequest& request) {
    if (!request.log.empty()) return request.log;
    // Beside a device or a pipe is no place for it.
    const bool beside = !request.output.empty() && is_replaceable(request.output);
    return (beside ? request.output : TuningRequest().output) + ".trials";
}

Plan::Plan(Operation of, const Plan& copies)
    : operation(of), operations(copies.operations), sizes(copies.set_sizes),
      objective(objective_of_sets(copies.objective)), extended(false), sensing(copies.sensing),
      small_weights(asterope::small_weights(of)), rigor(copies.rigor),
      most_rows(std::min(copies.most_rows, kMostSetRows)), threads(1),
      statistics(fleet_statistics(of)), references(copies.set_references), maps_source(false),
      log(copies.log), keeps_log(copies.keeps_log), budget_seconds(copies.budget_seconds),
      request_(copies.request_) {
    if (of == Operation::set) standing = request_.set_standing;
}

Plan::Plan(const TuningRequest& request, const Machine& machine)
    : operations(parse_operations(request.operations)),
      sizes(request.sizes.empty() ? default_sizes(machine.caches) : parse_size_list(request.sizes)),
      set_sizes(sizes_of_sets(request, machine)), objective(parse_objective(request.workload)),
      extended(parse_space(request.space)), sensing(!request.no_sensing),
      small_weights(request.small_weights.empty() ? asterope::small_weights()
                                                  : request.small_weights),
      rigor(parse_rigor(request.rigor)), most_rows(request.rows), threads(threads_of(request)),
      statistics(statistics_of(request)),
      references(request.replayed ? request.logged_references
                                  : parse_references(request.references)),
      set_references(request.replayed ? request.logged_set_references
                     : contains(operations, Operation::set)
                         ? parse_references(request.references, Operation::set)
                         : std::vector<Reference>()),
      maps_source(!request.source_map.empty()), log(log_of(request)),
      keeps_log(!request.log.empty()), request_(request) {
    if (sizes.front() < kMinimumBytes) {
        throw BadInput("size " + format_size(sizes.front()) + " is below " +
                       format_size(kMinimumBytes) + ", where the pipelines begin");
    }
    standing = request.standing;
    if (operations.size() > 1) budget_share = kShareOfCopies;
    if (!request.time_budget.empty()) budget_seconds = parse_duration(request.time_budget);
    if (maps_source) {
        if (!request.replayed) source_map.emplace(request.source_map, sizes.back());
        objective = for_mapped_source(std::move(objective));
    }
    if (request.makes_folder) make_folder_of(request.output);
    if (!request.replayed || !request.output.empty()) require_writable(request.output);
    if (request.replayed && request.log.empty()) return;
    std::error_code unreachable; // such as links in a circle: require_writable says which
    if (request.resume && !std::filesystem::exists(log, unreachable) && !unreachable) {
        throw BadInput("there is no log " + log +
                       " to resume from: leave out --resume to start anew, or name the log of the "
                       "run that was cut short with --log");
    }
    require_writable(log);
    // Another run that writes it is found out now already, before this one disturbs its timings.
    if (request.resume) {
        lock_trial_log(log);
    } else {
        require_no_trial_log(log);
    }
}

void Plan::take_part(const SearchOptions& options) {
    standing = request_.standing = options.standing;
    request_.set_standing = options.set_standing;
}

SearchOptions Plan::options() const {
    std::string drawn;
    for (const Distribution* one : {&statistics.sizes, &statistics.alignments}) {
        for (const auto& [value, probability] : one->pairs()) {
            drawn += std::to_string(value) + ':' + std::to_string(probability) + ' ';
        }
    }
    const bool mix = objective.name == "weights";
    return {.rigor = rigor.name,
            .workload = mix ? "balanced" : request_.workload,
            .weights = objective.weights,
            .weights_given = mix ? request_.workload : "",
            .sizes = sizes,
            .space = request_.space,
            .sensing = sensing,
            .rows = most_rows,
            .threads = threads,
            .small_weights = small_weights,
            .distribution = statistics.name,
            .distribution_hash = text_hash(drawn),
            .source_map = request_.source_map,
            .interleave = request_.interleave,
            .without = request_.without,
            .references = names_of(references),
            .set_references = names_of(set_references),
            .operations = operations,
            .set_sizes = operations.size() > 1 ? set_sizes : std::vector<std::size_t>(),
            .standing = request_.standing,
            .set_standing = request_.set_standing};
}

TuningRequest replayed_request(const SearchOptions& options) {
    TuningRequest request;
    for (const std::size_t size : options.sizes) {
        request.sizes += (request.sizes.empty() ? "" : ",") + std::to_string(size);
    }
    request.rigor = options.rigor;
    request.workload = options.weights_given.empty() ? options.workload : options.weights_given;
    request.space = options.space;
    request.no_sensing = !options.sensing;
    request.threads = options.threads;
    request.rows = options.rows;
    request.small_weights = logged_small_weights(options);
    request.distribution = options.distribution;
    request.source_map = options.source_map;
    request.interleave = options.interleave;
    request.without = options.without;
    request.logged_references = references_of(options.references);
    request.logged_set_references = references_of(options.set_references, Operation::set);
    request.set_sizes = options.set_sizes;
    request.standing = options.standing;
    request.set_standing = options.set_standing;
    request.operations.clear();
    for (const Operation one : options.operations) {
        request.operations += (request.operations.empty() ? "" : ",") + name_of(one);
    }
    request.replayed = true;
    return request;
}

std::size_t Plan::handover_size() const {
    const auto above = std::ranges::lower_bound(sizes, kLargestMixed);
    return above == sizes.end() ? sizes.back() : *above;
}

std::vector<Workload> Plan::measured() const {
    if (operation == Operation::set) return {kSets.begin(), kSets.end()};
    std::vector<Workload> workloads(kMeasured.begin(), kMeasured.end());
    if (maps_source) std::erase(workloads, Workload::produce);
    return workloads;
}

std::vector<Objective> Plan::objectives() const {
    std::vector<Objective> objectives = with_intents(objective, measured());
    // A set has no entry points by intent.
    if (operation == Operation::set) objectives.resize(1);
    return objectives;
}

} // namespace asterope
