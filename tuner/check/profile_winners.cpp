// Takes the winners from the profile's choices, in an order that covers the range early.
#include "check/profile_winners.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "search/sensing_search.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

namespace {

using Winners = std::vector<ProfileWinner>;

/// The weights that the winners were chosen by. Profiles without weights name a workload, or leave
/// it out: then it is the default.
Weights weights_of(const SearchFacts& search, Operation operation) {
    const auto own = search.weights.find(operation);
    if (own == search.weights.end()) {
        const Objective objective =
            parse_objective(search.workload.empty() ? "balanced" : search.workload);
        return operation == Operation::copy ? objective.weights
                                            : objective_of_sets(objective).weights;
    }
    const Weights weights = scaled(counting(own->second));
    if (weights.empty()) {
        throw BadInput("its weights of " + name_of(operation) + " are all 0");
    }
    return weights;
}

/// A winner's name in the table. Copies are named by the size alone.
std::string label_of(Operation operation, const std::string& size) {
    return operation == Operation::copy ? size : name_of(operation) + ' ' + size;
}

ProfileWinner winner_of(const Choice& choice, const Weights& weights, const HasFeature& has,
                        bool senses, std::vector<std::unique_ptr<asterope_sensing>>& arguments) {
    const std::size_t size = choice.size;
    const auto pipeline = [&](const Candidate& copy) {
        if (has_all(copy.variant->needs, has)) return timed_copy(copy);
        throw BadInput("this CPU cannot run its " + name_of(choice.operation) + " of " +
                       format_size(size) + "; tune again");
    };
    ProfileWinner winner{size, label_of(choice.operation, format_size(size)),
                         weights_at(size, weights), pipeline(choice.pipeline())};
    winner.tuned.ratio = choice.plain_ratio();
    if (choice.sensing && senses && size >= kSensingMinimum) {
        const SensingCopy& copy = *choice.sensing;
        for (const auto& one : {std::optional(copy.hot), {copy.cold}, copy.fetch, copy.produce}) {
            if (one) pipeline(*one);
        }
        winner.rival = winner.holder;
        arguments.push_back(std::make_unique<asterope_sensing>(copy.arguments()));
        winner.holder = copy.timed(*arguments.back());
        winner.tuned = {choice.ratio, choice.ratio / choice.plain_ratio()};
    } else if (!choice.runners_up.empty()) {
        winner.rival = pipeline(std::get<Candidate>(choice.runners_up.front().copy));
        if (choice.proof) winner.tuned.lead = choice.proof->lead.median;
    }
    return winner;
}

/// The winner among the small copies, which go on to those of `pipelines`.
ProfileWinner small_winner(const Choice& small, const Winners& pipelines, const HasFeature& has) {
    // Draws that are too large for the small copies go on to a pipeline: that of sizes above the
    // largest draw.
    const auto large = std::ranges::find_if(
        pipelines, [](const ProfileWinner& winner) { return winner.size >= kLargestMixed; });
    const TimedCopy& beyond = (large == pipelines.end() ? pipelines.back() : *large).holder;
    const auto timed = [&](const AnyCopy& any) {
        const asterope_copy& copy = *std::get<const asterope_copy*>(any);
        if (!has_all(copy.needs, has)) {
            throw BadInput("this CPU cannot run one of its " +
                           std::string(facts_of(small.operation).small) + "; tune again");
        }
        return small_copy(copy.small, beyond.argument, beyond.function, copy.name, small.operation);
    };
    ProfileWinner winner{0, label_of(small.operation, "to " + format_size(small.up_to)),
                         scaled(counting(small_weights(small.operation))), timed(small.copy)};
    winner.tuned = {small.ratio, small.proof ? small.proof->lead.median : 1};
    if (!small.runners_up.empty()) winner.rival = timed(small.runners_up.front().copy);
    return winner;
}

} // namespace

ProfileWinners winners_of(const Profile& profile, const HasFeature& has, bool senses) {
    const SearchFacts& search = profile.search;
    if (!search.source_map.empty()) {
        throw BadInput("its sources were mapped from " + search.source_map +
                       ", which may have changed since: only a new search can tell");
    }
    ProfileWinners winners;
    std::multimap<std::size_t, ProfileWinner> by_turn; // those of one turn stay in order
    for (const OperationFacts& facts : kOperations) {
        const auto choices = profile.of(ChoiceKind::pipelines, facts.operation);
        if (choices.empty()) continue; // small ones have no pipeline to go on with
        const Weights weights = weights_of(search, facts.operation);
        Winners pipelines, ordered;
        for (const Choice* one : choices) {
            pipelines.push_back(winner_of(*one, weights, has, senses, winners.arguments));
        }
        for (const std::size_t index : coarse_to_fine(pipelines.size())) {
            ordered.push_back(pipelines[index]);
        }
        if (const Choice* small = profile.first(ChoiceKind::small, facts.operation)) {
            if (facts.operation != Operation::copy || search.distribution == "fleet") {
                const auto place = std::min<std::ptrdiff_t>(2, std::ssize(ordered));
                ordered.insert(ordered.begin() + place, small_winner(*small, pipelines, has));
            } else {
                winners.small_left_out =
                    "the small copies were tuned for calls of another distribution";
            }
        }
        for (std::size_t turn = 0; turn < ordered.size(); ++turn) {
            by_turn.emplace(turn, std::move(ordered[turn]));
        }
    }
    for (auto& [turn, winner] : by_turn) winners.all.push_back(std::move(winner));
    return winners;
}

} // namespace asterope
