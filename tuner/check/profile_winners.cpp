// Takes the winners from the profile's choices, in an order that covers the range early.
#include "check/profile_winners.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "search/sensing_search.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"

namespace asterope {

namespace {

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

} // namespace

TimedCopy ProfileWinners::pipeline(const Candidate& copy, std::size_t size) const {
    if (!has_all(copy.variant->needs, has_)) {
        throw BadInput("this CPU cannot run its " + name_of(operation_of(*copy.variant)) + " of " +
                       format_size(size) + "; tune again");
    }
    return timed_copy(copy);
}

TimedCopy ProfileWinners::sensing(const SensingCopy& copy, std::size_t size) {
    for (const Candidate& one :
         {copy.hot, copy.cold, copy.fetch.value_or(copy.cold), copy.produce.value_or(copy.hot)}) {
        pipeline(one, size);
    }
    arguments_.push_back(copy.arguments());
    return copy.timed(arguments_.back());
}

ProfileWinner ProfileWinners::winner_of(const Choice& choice, const Weights& weights) {
    TimedCopy taken = pipeline(choice.pipeline(), choice.size);
    ProfileWinner winner{choice.size,
                         label_of(taken.operation, format_size(choice.size)),
                         weights_at(choice.size, weights),
                         std::move(taken),
                         std::nullopt,
                         {choice.plain_ratio(), 1}};
    if (choice.sensing && senses_ && choice.size >= kSensingMinimum) {
        winner.rival = winner.holder;
        winner.holder = sensing(*choice.sensing, choice.size);
        winner.tuned = {choice.ratio, choice.ratio / choice.plain_ratio()};
    } else if (!choice.runners_up.empty()) {
        winner.rival = pipeline(std::get<Candidate>(choice.runners_up.front().copy), choice.size);
        if (choice.proof) winner.tuned.lead = choice.proof->lead.median;
    }
    return winner;
}

std::optional<ProfileWinner> ProfileWinners::small_winner(const Choice& small,
                                                          const SearchFacts& search,
                                                          const Winners& pipelines) {
    const std::string what(facts_of(small.operation).small);
    if (search.distribution != "fleet") {
        small_left_out_ += (small_left_out_.empty() ? "the " : ", the ") + what +
                           " were tuned for calls of another distribution";
        return std::nullopt;
    }
    // Draws that are too large for the small copies go on to a pipeline: that of sizes above the
    // largest draw.
    const auto large = std::ranges::find_if(
        pipelines, [](const ProfileWinner& winner) { return winner.size >= kLargestMixed; });
    const TimedCopy& beyond = (large == pipelines.end() ? pipelines.back() : *large).holder;
    const auto timed = [&](const AnyCopy& any) {
        const asterope_copy& copy = *std::get<const asterope_copy*>(any);
        if (!has_all(copy.needs, has_)) {
            throw BadInput("this CPU cannot run one of its " + what + "; tune again");
        }
        return small_copy(copy.small, beyond.argument, beyond.function, copy.name, small.operation);
    };
    ProfileWinner winner{0,
                         label_of(small.operation, "to " + format_size(small.up_to)),
                         scaled(counting(small_weights(small.operation))),
                         timed(small.copy),
                         std::nullopt,
                         {small.ratio, small.proof ? small.proof->lead.median : 1}};
    if (!small.runners_up.empty()) winner.rival = timed(small.runners_up.front().copy);
    return winner;
}

ProfileWinners::Winners ProfileWinners::winners_of(const Profile& profile, Operation operation) {
    Winners pipelines, ordered;
    const std::vector<const Choice*> choices = profile.of(ChoiceKind::pipelines, operation);
    if (choices.empty()) return ordered; // small ones have no pipeline to go on with
    const Weights weights = weights_of(profile.search, operation);
    for (const Choice* one : choices) pipelines.push_back(winner_of(*one, weights));
    std::optional<ProfileWinner> of_small;
    if (const Choice* small = profile.first(ChoiceKind::small, operation)) {
        of_small = small_winner(*small, profile.search, pipelines);
    }
    for (const std::size_t index : coarse_to_fine(pipelines.size())) {
        ordered.push_back(std::move(pipelines[index]));
    }
    if (of_small) {
        const auto place = std::min<std::ptrdiff_t>(2, std::ssize(ordered));
        ordered.insert(ordered.begin() + place, std::move(*of_small));
    }
    return ordered;
}

ProfileWinners::ProfileWinners(const Profile& profile, const HasFeature& has, bool senses)
    : has_(has), senses_(senses) {
    if (!profile.search.source_map.empty()) {
        throw BadInput("its sources were mapped from " + profile.search.source_map +
                       ", which may have changed since: only a new search can tell");
    }
    std::array<Winners, kOperations.size()> all;
    std::size_t most = 0;
    for (const OperationFacts& facts : kOperations) {
        Winners& own = all[static_cast<std::size_t>(facts.operation)];
        own = winners_of(profile, facts.operation);
        most = std::max(most, own.size());
        operations_ += !own.empty();
    }
    for (std::size_t i = 0; i < most; ++i) {
        for (Winners& own : all) {
            if (i < own.size()) winners_.push_back(std::move(own[i]));
        }
    }
}

} // namespace asterope
