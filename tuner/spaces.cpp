// The spaces of one run: all that is searched, less what copies wrongly here.
#include "spaces.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "aliased_search.hpp"
#include "sensing_search.hpp"
#include "small_search.hpp"
#include "verify.hpp"

namespace asterope {

namespace {

using Key = std::tuple<const asterope_variant*, int, int>;

Key key_of(const Candidate& candidate) {
    return {candidate.variant, candidate.pd, candidate.pw};
}

/// Notes what copies wrongly and warns of it; says which do.
std::vector<bool> note(const std::vector<Invalid>& invalid, std::size_t count,
                       const std::function<std::string(std::size_t)>& name,
                       std::vector<std::pair<std::string, std::string>>& noted) {
    std::vector<bool> wrong(count, false);
    for (const Invalid& fault : invalid) {
        wrong[fault.index] = true;
        noted.emplace_back(name(fault.index), fault.reason);
    }
    if (!invalid.empty()) {
        std::fprintf(stderr, "warning: %zu candidates copy wrongly and are left out (%s: %s)\n",
                     invalid.size(), name(invalid.front().index).c_str(),
                     invalid.front().reason.c_str());
    }
    return wrong;
}

template <class Value>
void drop(std::vector<const Value*>& values, const std::vector<bool>& wrong) {
    std::size_t i = 0;
    std::erase_if(values, [&](const Value*) { return wrong[i++]; });
}

} // namespace

Spaces::Spaces(const Features& features, bool extended, bool sensing) {
    space = paper_space(features);
    const std::size_t paper = space.size();
    if (extended) {
        const std::vector<Candidate> more = extension_space(features);
        space.insert(space.end(), more.begin(), more.end());
    }
    const std::vector<bool> wrong = note(
        verify(space), space.size(), [&](std::size_t i) { return space[i].name(); }, invalid);
    for (std::size_t i = 0; i < paper; ++i) {
        if (!wrong[i]) entrants.push_back(static_cast<Entrant>(i));
    }
    if (extended) {
        auto places = std::make_shared<std::map<Key, Entrant>>();
        for (std::size_t i = 0; i < space.size(); ++i) {
            if (!wrong[i]) places->emplace(key_of(space[i]), static_cast<Entrant>(i));
        }
        const auto entrants_of = [places](const std::vector<Candidate>& candidates) {
            std::vector<Entrant> found;
            for (const Candidate& candidate : candidates) {
                const auto place = places->find(key_of(candidate));
                if (place != places->end()) found.push_back(place->second);
            }
            return found;
        };
        extension.around = [this, features, entrants_of](Entrant entrant) {
            return entrants_of(around(space[static_cast<std::size_t>(entrant)], features));
        };
        extension.plane = [this, features, entrants_of](Entrant entrant) {
            // At one prefetchw distance: with all of them it would be five times as large.
            const Candidate& one = space[static_cast<std::size_t>(entrant)];
            std::vector<Candidate> all = asterope::plane(one, features);
            std::erase_if(all, [&](const Candidate& other) { return other.pw != one.pw; });
            return entrants_of(all);
        };
    }

    small_space = asterope::small_space(features);
    const std::vector<bool> wrong_small = note(
        verify(small_space, space.front().variant->copy), small_space.size(),
        [&](std::size_t i) { return small_name(*small_space[i]); }, invalid);
    for (std::size_t i = 0; i < small_space.size(); ++i) {
        if (!wrong_small[i]) small_entrants.push_back(static_cast<Entrant>(i));
    }

    aliased_space = asterope::aliased_space(features);
    drop(aliased_space,
         note(
             verify(aliased_space), aliased_space.size(),
             [&](std::size_t i) { return aliased_name(*aliased_space[i]); }, invalid));

    if (sensing) {
        for (std::size_t i = 0; i < asterope_probe_count; ++i)
            probes.push_back(&asterope_probes[i]);
        drop(probes, note(
                         verify(probes, space.front().variant->copy), probes.size(),
                         [&](std::size_t i) { return probe_name(*probes[i]); }, invalid));
    }
}

} // namespace asterope
