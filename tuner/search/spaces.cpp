// The spaces of one run: all that is searched, less what copies wrongly here.
#include "search/spaces.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>

#include "base/text_hash.hpp"
#include "search/aliased_search.hpp"
#include "search/overlapping_search.hpp"
#include "search/sensing_search.hpp"
#include "search/small_search.hpp"
#include "space/verify.hpp"

namespace asterope {

namespace {

using Key = std::tuple<const asterope_variant*, int, int>;

Key key_of(const Candidate& candidate) {
    return {candidate.variant, candidate.pd, candidate.pw};
}

template <class Value>
void drop(std::vector<const Value*>& values, const std::vector<bool>& wrong) {
    std::size_t i = 0;
    std::erase_if(values, [&](const Value*) { return wrong[i++]; });
}

} // namespace

Spaces::Spaces(const Features& features, bool extended, bool sensing) : verified_(true) {
    build(features, extended, sensing);
}

Spaces::Spaces(const Features& features, bool extended, bool sensing, Invalids invalid)
    : invalid(std::move(invalid)), verified_(false) {
    build(features, extended, sensing);
}

/// `large`: what small copies and probes call for more.
template <class Members, class Name, class... Large>
Spaces::Wrong Spaces::wrong(const Members& members, const Name& name, Large... large) {
    Wrong wrong(members.size(), false);
    if (!verified_) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            wrong[i] = std::any_of(invalid.begin(), invalid.end(), [&](const auto& known) {
                return known.first == name(members[i]);
            });
        }
        return wrong;
    }
    const std::vector<Invalid> faults = verify(members, large...);
    for (const Invalid& fault : faults) {
        wrong[fault.index] = true;
        invalid.emplace_back(name(members[fault.index]), fault.reason);
    }
    if (!faults.empty()) {
        const auto& [first, reason] = invalid[invalid.size() - faults.size()];
        std::fprintf(stderr, "warning: %zu candidates copy wrongly and are left out (%s: %s)\n",
                     faults.size(), first.c_str(), reason.c_str());
    }
    return wrong;
}

void Spaces::build(const Features& features, bool extended, bool sensing) {
    space = paper_space(features);
    const std::size_t paper = space.size();
    if (extended) {
        const std::vector<Candidate> more = extension_space(features);
        space.insert(space.end(), more.begin(), more.end());
    }
    const Wrong wrong_large = wrong(space, [](const Candidate& one) { return one.name(); });
    for (std::size_t i = 0; i < paper; ++i) {
        if (!wrong_large[i]) entrants.push_back(static_cast<Entrant>(i));
    }
    if (extended) {
        auto places = std::make_shared<std::map<Key, Entrant>>();
        for (std::size_t i = 0; i < space.size(); ++i) {
            if (!wrong_large[i]) places->emplace(key_of(space[i]), static_cast<Entrant>(i));
        }
        const auto entrants_of = [places](const std::vector<Candidate>& candidates) {
            std::vector<Entrant> found;
            for (const Candidate& candidate : candidates) {
                const auto place = places->find(key_of(candidate));
                if (place != places->end()) found.push_back(place->second);
            }
            return found;
        };
        extension.neighbours = [this, features, entrants_of](Entrant entrant) {
            return entrants_of(neighbours(space[static_cast<std::size_t>(entrant)], features));
        };
        extension.distance_grid = [this, features, entrants_of](Entrant entrant) {
            // At one prefetchw distance: with all of them it would be five times as large.
            const Candidate& one = space[static_cast<std::size_t>(entrant)];
            std::vector<Candidate> all = asterope::distance_grid(one, features);
            std::erase_if(all, [&](const Candidate& other) { return other.pw != one.pw; });
            return entrants_of(all);
        };
    }

    small_space = asterope::small_space(features);
    const auto name_small = [](const asterope_small_variant* one) { return small_name(*one); };
    const Wrong wrong_small = wrong(small_space, name_small, space.front().variant->copy);
    for (std::size_t i = 0; i < small_space.size(); ++i) {
        if (!wrong_small[i]) small_entrants.push_back(static_cast<Entrant>(i));
    }

    aliased_space = asterope::aliased_space(features);
    drop(aliased_space, wrong(aliased_space, [](const asterope_aliased_variant* one) {
             return aliased_name(*one);
         }));

    overlapping_space = asterope::overlapping_space(features);
    drop(overlapping_space, wrong(overlapping_space, [](const asterope_overlapping_variant* one) {
             return overlapping_name(*one);
         }));

    if (sensing) {
        for (std::size_t i = 0; i < asterope_probe_count; ++i)
            probes.push_back(&asterope_probes[i]);
        const auto name = [](const asterope_probe* one) { return probe_name(*one); };
        drop(probes, wrong(probes, name, space.front().variant->copy));
    }
}

std::string Spaces::hash() const {
    std::string names;
    const auto add = [&](const std::string& name) { names += name + '\n'; };
    for (const Candidate& candidate : space) add(candidate.name());
    for (const asterope_small_variant* variant : small_space) add(small_name(*variant));
    for (const asterope_aliased_variant* variant : aliased_space) add(aliased_name(*variant));
    for (const asterope_probe* probe : probes) add(probe_name(*probe));
    // What copies wrongly stays in some of the spaces, but is not timed.
    for (const auto& [name, reason] : invalid) add(name);
    return text_hash(names);
}

} // namespace asterope
