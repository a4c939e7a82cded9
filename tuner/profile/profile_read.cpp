// The profile from JSON, which may be anybody's: says which field is not as it must be.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/contains.hpp"
#include "profile/field_reader.hpp"
#include "profile/schema.hpp"
#include "space/limits.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace profile_fields {

namespace {

// --- What no field by itself can be wrong in; scripts/asterope/profile/checks.py says the same ---

/// The sizes of one operation, kind and intent join: (0, a], (a, b], ...
void require_joined(std::vector<Choice>& choices) {
    std::map<std::tuple<Operation, ChoiceKind, std::optional<Workload>>, std::size_t> ends;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        Choice& one = choices[i];
        const Place place = Place{"choices"}.at(i);
        const KindFacts& kind = facts_of(one.kind);
        const auto [end, first] = ends.try_emplace({one.operation, one.kind, one.intent}, 0);
        if (!first && kind.alone) throw place.fault("a second choice of its kind");
        const std::size_t expected =
            first && kind.begins ? std::max(one.above, kind.begins - 1) : end->second;
        if (one.above < expected) throw place.fault("the sizes of its kind do not ascend");
        if (one.above > expected) {
            throw place.at("above").fault("leaves a gap: expected " + std::to_string(expected));
        }
        if (one.kind == ChoiceKind::pipelines && one.size == 0) one.size = one.up_to;
        if (one.up_to <= one.above) throw place.at("up_to").fault("not beyond the lower end");
        if (one.size && (one.size <= one.above || one.size > one.up_to)) {
            throw place.at("size").fault("not among the sizes of the choice");
        }
        end->second = one.up_to;
    }
    const auto require_pipelines = [&](Operation operation, std::optional<Workload> intent) {
        if (ends.count({operation, ChoiceKind::pipelines, intent})) return;
        throw BadInput("choices: no pipelines of " + name_of(operation) +
                       (intent ? '_' + name_of(*intent) : ""));
    };
    require_pipelines(Operation::copy, std::nullopt);
    for (const auto& [columns, unused] : ends) {
        require_pipelines(std::get<0>(columns), std::nullopt);
        require_pipelines(std::get<0>(columns), std::get<2>(columns));
    }
}

void require_true(const Choice& one, const Place& place) {
    const bool copies = one.operation == Operation::copy;
    const bool by_intent = one.kind == ChoiceKind::pipelines || one.kind == ChoiceKind::small;
    if (one.intent && !(copies && by_intent)) {
        throw place.at("intent").fault(
            "only memcpy's pipelines and small copies are chosen by intent");
    }
    if (one.sensing && one.intent) throw place.fault("senses, though it is for one intent");
    if (one.sensing && one.above + 1 < kSensingMinimum) {
        throw place.at("above").fault("below the bytes from which on a copy may sense");
    }
    if (one.kind == ChoiceKind::threads) {
        if (!copies) throw place.at("kind").fault("only copies are shared among threads");
        const std::size_t chunk = one.share().chunk;
        if (chunk == 0 || chunk >= kLeastChunk) return;
        throw place.at("copies").at("taken").at("chunk").fault("too small");
    }
    if (one.kind == ChoiceKind::fresh && !is_possible(one.stage())) {
        throw place.at("copies").at("taken").fault("is not a page stage that this version knows");
    }
    if (one.kind == ChoiceKind::small && one.up_to != bound_of(one.member())) {
        throw place.at("up_to").fault("is not the bound of the copy");
    }
    if (one.proof && contains(one.proof->ties, name_of(one.copy))) {
        throw place.at("evidence").at("proof").at("ties").fault("has the winner itself");
    }
}

void require_left_out(const Profile& profile) {
    for (const auto& [operation, left_out] : profile.left_out) {
        const Place place = Place{"left_out"}.at(name_of(operation));
        if (profile.complete) throw place.fault("though the profile is complete");
        if (left_out.empty()) throw place.fault("names neither sizes nor steps");
        const std::vector<std::size_t> sizes = profile.sizes(operation);
        const auto known = [&](std::size_t size) { return contains(sizes, size); };
        if (std::ranges::any_of(left_out.sizes, known)) {
            throw place.at("sizes").fault("has a size that has a winner");
        }
        for (const ChoiceKind kind : {ChoiceKind::small, ChoiceKind::overlapping}) {
            if (!left_out.steps.count(facts_of(kind).step) || !profile.first(kind, operation)) {
                continue;
            }
            throw place.at("steps").fault("has one that has a winner");
        }
    }
}

void require_consistent(Profile& profile) {
    require_joined(profile.choices);
    for (std::size_t i = 0; i < profile.choices.size(); ++i) {
        require_true(profile.choices[i], Place{"choices"}.at(i));
    }
    require_left_out(profile);
    for (const auto& [operation, weights] : profile.search.weights) {
        const auto counts = [](const auto& one) { return one.second != 0; };
        if (std::ranges::any_of(weights, counts)) continue;
        throw Place{"search"}.at("weights").at(name_of(operation)).fault("no workload has one");
    }
}

} // namespace

void require_printable(const std::string& text, const Place& place) {
    const auto printable = [](unsigned char c) { return c >= ' ' && c <= '~'; };
    if (!std::ranges::all_of(text, printable)) {
        throw place.fault("not all printable ASCII");
    }
}

const asterope_copy* find_probe(const Json& value, const Place& place) {
    const asterope_kind* probes = find_kind(*facts_of(place.operation).space, "probes");
    const asterope_copy* found = probes ? find_copy(*probes, value) : nullptr;
    if (!found) throw place.fault("is not a probe that this version knows");
    return found;
}

void read_pipeline(const Json& value, const Place& place, Candidate& into) {
    const auto found = find_candidate(*facts_of(place.operation).space, value);
    if (!found) throw place.fault("is not a copy that this version knows");
    into = *found;
}

void read_copy(const Json& value, const Place& place, AnyCopy& into) {
    if (place.kind == ChoiceKind::pipelines) {
        return read_pipeline(value, place, into.emplace<Candidate>());
    }
    if (place.kind == ChoiceKind::threads) return read(value, place, into.emplace<ThreadShare>());
    if (place.kind == ChoiceKind::fresh) return read(value, place, into.emplace<PageStage>());
    const asterope_kind* kind =
        find_kind(*facts_of(place.operation).space, facts_of(place.kind).name);
    const asterope_copy* found = kind ? find_copy(*kind, value) : nullptr;
    if (!found) throw place.fault("is not a copy that this version knows");
    into = found;
}

} // namespace profile_fields

Profile profile_of(const nlohmann::ordered_json& json) {
    using profile_fields::Reader;
    Profile profile;
    Reader::read_object(json, {}, [&](Reader& reader) { profile_fields::fields(reader, profile); },
                        {"format", "version", "architecture"});
    profile_fields::require_consistent(profile);
    require_profile_schema(json);
    return profile;
}

} // namespace asterope
