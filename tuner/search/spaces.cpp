// Verifies every copy on this machine, or takes the faults over from an earlier run's log.
#include "search/spaces.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>

#include "base/contains.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

using Key = std::tuple<const asterope_variant*, int, int>;

Key key_of(const Candidate& candidate) {
    return {candidate.variant, candidate.pd, candidate.pw};
}

} // namespace

Spaces::Faults Spaces::find_faults(std::size_t count,
                                   const std::function<std::string(std::size_t)>& name,
                                   const std::function<std::vector<Invalid>()>& verify) {
    Faults faults(count, false);
    if (!verified_) {
        for (std::size_t i = 0; i < count; ++i) {
            faults[i] = std::ranges::any_of(
                invalid, [&](const auto& known) { return known.first == prefix_ + name(i); });
        }
        return faults;
    }
    const std::vector<Invalid> found = verify();
    for (const Invalid& fault : found) {
        faults[fault.index] = true;
        invalid.emplace_back(prefix_ + name(fault.index), fault.reason);
    }
    if (!found.empty()) {
        const auto& [first, reason] = invalid[invalid.size() - found.size()];
        std::fprintf(stderr, "warning: %zu candidates copy wrongly and are left out (%s: %s)\n",
                     found.size(), first.c_str(), reason.c_str());
    }
    return faults;
}

Spaces::Members Spaces::members_that_copy_right(const asterope_kind& kind,
                                                const HasFeature& features) {
    Members members = copies_of(kind, features);
    const Faults faults = find_faults(
        members.size(), [&](std::size_t i) { return std::string(members[i]->name); },
        [&] { return verify(kind, members, space.front().variant->copy); });
    std::size_t i = 0;
    std::erase_if(members, [&](const asterope_copy*) { return faults[i++]; });
    return members;
}

const Spaces::Members& Spaces::members(std::string_view kind) const {
    static const Members none;
    const auto* found = find_in(kinds, kind, [](const auto& one) { return one.first->name; });
    return found ? found->second : none;
}

Spaces::Spaces(const HasFeature& features, bool extended, bool sensing, Operation operation,
               const std::optional<Invalids>& known)
    : senses(sensing), prefix_(operation == Operation::copy ? "" : name_of(operation) + ' '),
      verified_(!known) {
    for (const auto& one : known.value_or(Invalids())) {
        const auto named = find_operation(one.first.substr(0, one.first.find(' ')));
        if (named.value_or(Operation::copy) == operation) invalid.push_back(one);
    }
    const asterope_space& of = *facts_of(operation).space;
    space = paper_space(features, of);
    const std::size_t paper = space.size();
    if (extended) {
        const std::vector<Candidate> more = extension_space(features);
        space.insert(space.end(), more.begin(), more.end());
    }
    const Faults faults = find_faults(
        space.size(), [&](std::size_t i) { return space[i].name(); },
        [&] { return verify(space); });
    right_pipeline = [faults](Entrant entrant) { return !faults[entrant.index()]; };
    for (std::size_t i = 0; i < paper; ++i) {
        if (!faults[i]) entrants.emplace_back(i);
    }
    if (extended) {
        auto places = std::make_shared<std::map<Key, Entrant>>();
        for (std::size_t i = 0; i < space.size(); ++i) {
            if (!faults[i]) places->emplace(key_of(space[i]), i);
        }
        const auto entrants_of = [places](const std::vector<Candidate>& candidates) {
            std::vector<Entrant> found;
            for (const Candidate& candidate : candidates) {
                const auto place = places->find(key_of(candidate));
                if (place != places->end()) found.push_back(place->second);
            }
            return found;
        };
        extension.neighbours = [features, entrants_of](const Candidate& one) {
            return entrants_of(neighbours(one, features));
        };
        extension.distance_grid = [features, entrants_of](const Candidate& one) {
            // At one prefetchw distance: with all of them it would be five times as large.
            std::vector<Candidate> all = asterope::distance_grid(one, features);
            std::erase_if(all, [&](const Candidate& other) { return other.pw != one.pw; });
            return entrants_of(all);
        };
    }

    for (const asterope_kind& kind : kinds_of(of)) {
        if (kind.copies->read && !senses) continue;
        kinds.emplace_back(&kind, members_that_copy_right(kind, features));
    }
}

std::string Spaces::hash() const {
    std::string names;
    const auto add = [&](const std::string& name) { names += name + '\n'; };
    for (const Candidate& candidate : space) add(candidate.name());
    for (const auto& [kind, members] : kinds) {
        if (kind->overlap) continue;
        for (const asterope_copy* copy : members) add(copy->name);
    }
    // Pipelines that copy wrongly stay in the space, but are not timed.
    for (const auto& [name, reason] : invalid) add(name);
    return text_hash(names);
}

} // namespace asterope
