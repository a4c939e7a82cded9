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
#include "text_hash.hpp"
#include "verify.hpp"

namespace asterope {

namespace {

using Key = std::tuple<const asterope_variant*, int, int>;

Key key_of(const Candidate& candidate) {
    return {candidate.variant, candidate.pd, candidate.pw};
}

/// Finds out what copies wrongly, or is told.
class Proof {
  public:
    using Name = std::function<std::string(std::size_t)>;
    Proof(const Spaces::Invalids* known, Spaces::Invalids& noted) : known_(known), noted_(noted) {}

    /// Which of `count` candidates are wrong, by `find` or as known; notes them.
    std::vector<bool> wrong(std::size_t count, const Name& name,
                            const std::function<std::vector<Invalid>()>& find) {
        const std::vector<Invalid> invalid = known_ ? known_of(count, name) : find();
        std::vector<bool> wrong(count, false);
        for (const Invalid& fault : invalid) {
            wrong[fault.index] = true;
            noted_.emplace_back(name(fault.index), fault.reason);
        }
        if (!known_ && !invalid.empty()) {
            std::fprintf(stderr,
                         "warning: %zu candidates copy wrongly and are left out (%s: %s)\n",
                         invalid.size(), name(invalid.front().index).c_str(),
                         invalid.front().reason.c_str());
        }
        return wrong;
    }

  private:
    std::vector<Invalid> known_of(std::size_t count, const Name& name) const {
        std::vector<Invalid> invalid;
        if (known_->empty()) return invalid;
        const std::map<std::string, std::string> reasons(known_->begin(), known_->end());
        for (std::size_t i = 0; i < count; ++i) {
            const auto reason = reasons.find(name(i));
            if (reason != reasons.end()) invalid.push_back({i, reason->second});
        }
        return invalid;
    }

    const Spaces::Invalids* known_;
    Spaces::Invalids& noted_;
};

template <class Value>
void drop(std::vector<const Value*>& values, const std::vector<bool>& wrong) {
    std::size_t i = 0;
    std::erase_if(values, [&](const Value*) { return wrong[i++]; });
}

} // namespace

Spaces::Spaces(const Features& features, bool extended, bool sensing, const Invalids* known) {
    Proof proof(known, invalid);
    space = paper_space(features);
    const std::size_t paper = space.size();
    if (extended) {
        const std::vector<Candidate> more = extension_space(features);
        space.insert(space.end(), more.begin(), more.end());
    }
    const std::vector<bool> wrong = proof.wrong(
        space.size(), [&](std::size_t i) { return space[i].name(); },
        [&] { return verify(space); });
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
    const std::vector<bool> wrong_small = proof.wrong(
        small_space.size(), [&](std::size_t i) { return small_name(*small_space[i]); },
        [&] { return verify(small_space, space.front().variant->copy); });
    for (std::size_t i = 0; i < small_space.size(); ++i) {
        if (!wrong_small[i]) small_entrants.push_back(static_cast<Entrant>(i));
    }

    aliased_space = asterope::aliased_space(features);
    drop(aliased_space,
         proof.wrong(
             aliased_space.size(), [&](std::size_t i) { return aliased_name(*aliased_space[i]); },
             [&] { return verify(aliased_space); }));

    if (sensing) {
        for (std::size_t i = 0; i < asterope_probe_count; ++i)
            probes.push_back(&asterope_probes[i]);
        drop(probes, proof.wrong(
                         probes.size(), [&](std::size_t i) { return probe_name(*probes[i]); },
                         [&] { return verify(probes, space.front().variant->copy); }));
    }
}

std::string Spaces::hash() const {
    std::string names;
    const auto add = [&](const std::string& name) { names += name + '\n'; };
    for (const Candidate& candidate : space) add(candidate.name());
    for (const asterope_small_variant* variant : small_space) add(small_name(*variant));
    for (const asterope_aliased_variant* variant : aliased_space) add(aliased_name(*variant));
    for (const asterope_probe* probe : probes) add(probe_name(*probe));
    // What copies wrongly stays in the spaces, but is not timed.
    for (const auto& [name, reason] : invalid) add(name);
    return text_hash(names);
}

} // namespace asterope
