// The three rigors, and the steps of one size's search: the entrants, their extension, a run-off.
#include "search/search.hpp"

#include <algorithm>
#include <set>

#include "base/contains.hpp"
#include "base/error.hpp"

namespace asterope {

namespace {

/// A few prefetch sizes and distances find the best family about as often as all do. With half of
/// the samples, winners were half a percent slower (logs of exhaustive searches of a Zen 4).
Rigor quick() {
    return {.name = "quick",
            .coarse_from = kAllCoarseSizes,
            .coarse = {.ps = {8}, .pd = {4, 16}},
            .fine = {.ps = {2, 4, 8, 14}, .pd = {0, 4, 8, 16, 28}},
            .families = 4,
            .screening_samples = 1,
            .cuts = {{30, 2}, {10, 4}},
            .finalists = 4,
            .rounds = 9,
            .bases = 2,
            .planes = 1,
            .inherits = true,
            .all_from = Rigor::AllFrom::run_off,
            .probe_readings = 15,
            .contestants = 12,
            .contest_rounds = 5,
            .exam_rounds = 3,
            .exams = 2,
            .boundary_ratio = 1.2};
}

Rigor standard() {
    return {.name = "standard",
            .coarse_from = kModerateCopy,
            .largest_size = 2 * kUsualLargest,
            .coarse = {.ps = {2, 6, 12}, .pd = {0, 4, 12, 24}},
            .fine = {},
            .families = 10,
            .screening_samples = 1,
            .cuts = {{120, 2}, {40, 4}},
            .finalists = 8,
            .rounds = 15,
            .bases = 5,
            .planes = 3,
            .inherits = false,
            .all_from = Rigor::AllFrom::last_cut,
            .probe_readings = 30,
            .contestants = 16,
            .contest_rounds = 15,
            .exam_rounds = 5,
            .exams = 3,
            .boundary_ratio = 1.07};
}

Rigor exhaustive() {
    Rigor rigor = standard();
    rigor.name = "exhaustive";
    rigor.coarse_from = kNoCoarseSizes;
    rigor.largest_size = 8 * kUsualLargest;
    rigor.coarse = {};
    rigor.families = 0;
    rigor.all_from = Rigor::AllFrom::start;
    rigor.screening_samples = 3; // of two that differ, either may be the disturbed one
    rigor.cuts = {{400, 2}, {80, 4}};
    rigor.finalists = 10;
    rigor.rounds = 21;
    rigor.bases = 24;
    rigor.planes = 8;
    return rigor;
}

} // namespace

Rigor parse_rigor(std::string_view text) {
    for (Rigor (*rigor)() : {quick, standard, exhaustive}) {
        if (text == rigor().name) return rigor();
    }
    throw BadInput("rigor '" + std::string(text.substr(0, 40)) +
                   "' is unknown: choose quick, standard or exhaustive");
}

Rigor rigor_at(const Rigor& rigor, std::size_t size) {
    if (rigor.name != standard().name || size < kModerateCopy) return rigor;
    Rigor large = quick();
    if (size <= kContestedCopy) large.contest_rounds = rigor.contest_rounds;
    return large;
}

bool Rigor::Grid::has(const Candidate& candidate) const {
    return ps.empty() || !candidate.prefetches() ||
           (contains(ps, candidate.variant->ps) && contains(pd, candidate.pd));
}

std::size_t run_off_samples(const Rigor& rigor) {
    // finalists of several objectives, the neighbours and libc twice
    return static_cast<std::size_t>((2 * rigor.finalists + 6) * rigor.rounds);
}

std::size_t screening_samples(const Rigor& rigor, const std::vector<Candidate>& paper, bool waits,
                              bool extended) {
    const auto of_cut = [&](const Rigor::Cut& cut) {
        return std::min(paper.size(), static_cast<std::size_t>(cut.keep)) *
               static_cast<std::size_t>(cut.samples);
    };
    if (waits && rigor.all_from == Rigor::AllFrom::run_off) return 0;
    if (waits && rigor.all_from == Rigor::AllFrom::last_cut) return of_cut(rigor.cuts.back());
    const auto coarse = static_cast<std::size_t>(
        std::ranges::count_if(paper, [&](const Candidate& c) { return rigor.coarse.has(c); }));
    const auto of_each = static_cast<std::size_t>(rigor.screening_samples);
    std::size_t all = coarse * of_each;
    const std::size_t distance_grid = rigor.fine.ps.empty()
                                          ? 7 * asterope_distance_count
                                          : rigor.fine.ps.size() * rigor.fine.pd.size();
    all += static_cast<std::size_t>(rigor.families) * distance_grid * of_each;
    if (extended) {
        // about a hundred combinations of the axes around each
        all += (static_cast<std::size_t>(rigor.bases) * 100 +
                static_cast<std::size_t>(rigor.planes) * distance_grid) *
               of_each;
    }
    for (const Rigor::Cut& cut : rigor.cuts) all += of_cut(cut);
    return all;
}

namespace {

std::string family_of(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    return std::string(v.rt) + ' ' + v.lt + ' ' + v.st + ' ' + v.pt;
}

/// The family with the extension axes: candidates that differ only in prefetch size and distances
/// are one.
std::string extended_family_of(const Candidate& candidate) {
    return candidate.values_but({"ps", "pd"});
}

/// One size being searched.
class Search {
  public:
    Search(const SizeSearch& asked, const TimedCopies& timings)
        : asked_(asked), rigor_(asked.rigor),
          race_(asked.size, asked.objectives, timings, asked.random) {}

    /// Screens the entrants: all of them, or a coarse grid and then the best families.
    void screen_entrants() {
        std::vector<Entrant> coarse, rest;
        for (const Entrant entrant : asked_.entrants) {
            (rigor_.coarse.has(candidate(entrant)) ? coarse : rest).push_back(entrant);
        }
        if (coarse.empty()) std::swap(coarse, rest);
        screen(coarse);
        if (rest.empty()) return;
        std::set<std::string> families;
        const auto prefetches = [](const Candidate& one) { return one.prefetches(); };
        for (const Entrant one : best_of_each(family_of, rigor_.families, prefetches)) {
            families.insert(family_of(candidate(one)));
        }
        std::erase_if(rest, [&](Entrant entrant) {
            return families.count(family_of(candidate(entrant))) == 0 ||
                   !rigor_.fine.has(candidate(entrant));
        });
        screen(rest);
    }

    /// Screens the extension axes around the paper's best. Returns how many candidates.
    std::size_t screen_extension(const Extension& extension) {
        extended_ = true;
        const auto all = [](const Candidate&) { return true; };
        for (const Entrant base : best_of_each(extended_family_of, rigor_.bases, all)) {
            screen(extension.neighbours(candidate(base)));
        }
        for (const Entrant one : best_of_each(extended_family_of, rigor_.planes, all)) {
            std::vector<Entrant> distance_grid = extension.distance_grid(candidate(one));
            std::erase_if(distance_grid, [&](Entrant entrant) {
                return !rigor_.fine.pd.empty() && !contains(rigor_.fine.pd, candidate(entrant).pd);
            });
            screen(distance_grid);
        }
        return static_cast<std::size_t>(std::ranges::count_if(
            seen_, [&](Entrant e) { return !in_paper(*candidate(e).variant); }));
    }

    /// Drops the candidates that are behind, giving the rest more samples.
    void cut() {
        for (const Rigor::Cut& cut : rigor_.cuts) {
            alive_ = race_.best(alive_, static_cast<std::size_t>(cut.keep));
            race_.sample(alive_, cut.samples, weighed(&cut == &rigor_.cuts.back()));
        }
    }

    /// The best candidates, and those that may win a tie with them.
    std::vector<Entrant> finalists(Entrant plain) const {
        std::vector<Entrant> finalists =
            race_.best(alive_, static_cast<std::size_t>(rigor_.finalists));
        const auto also = [&](Entrant entrant) {
            if (entrant == kLibc || contains(finalists, entrant)) return;
            if (takes_effect(candidate(entrant), asked_.size)) finalists.push_back(entrant);
        };
        // Copies that may win a tie must run: the neighbours' winners, and the leaders without
        // their prefetch.
        std::vector<Entrant> leaders;
        for (std::size_t objective = 0; objective < objectives(); ++objective) {
            std::vector<Entrant> ranked = finalists;
            race_.rank(ranked, objective);
            leaders.insert(leaders.end(), ranked.begin(),
                           ranked.begin() + std::min<std::ptrdiff_t>(2, std::ssize(ranked)));
        }
        for (const Entrant leader : leaders) also(without_prefetch(leader));
        for (const std::vector<Entrant>& winners : asked_.neighbours) {
            for (const Entrant neighbour : winners) also(neighbour);
        }
        // The simplest of the tied copies wins, so one of the paper's must run.
        if (extended_) also(best_of_paper());
        also(plain);
        return finalists;
    }

    Race& race() { return race_; }

  private:
    std::size_t objectives() const { return asked_.objectives.size(); }
    const Candidate& candidate(Entrant entrant) const { return asked_.space[entrant.index()]; }

    Race::Weighed weighed(bool last_cut) const {
        const auto from = last_cut ? Rigor::AllFrom::last_cut : Rigor::AllFrom::start;
        return rigor_.all_from <= from ? Race::Weighed::all : Race::Weighed::from_start;
    }

    void screen(const std::vector<Entrant>& entrants) {
        std::vector<Entrant> fresh;
        for (const Entrant entrant : entrants) {
            // Short copies make hundreds of candidates alike. Only the simplest of them runs.
            if (!takes_effect(candidate(entrant), asked_.size)) continue;
            if (seen_.insert(entrant).second) fresh.push_back(entrant);
        }
        race_.sample(fresh, rigor_.screening_samples, weighed(false));
        alive_.insert(alive_.end(), fresh.begin(), fresh.end());
    }

    /// The best of each family, until the `places` are taken. The objectives behind the first share
    /// as many places again. Candidates for which `takes_place` is false come in without a place.
    std::vector<Entrant> best_of_each(std::string (*family)(const Candidate&), int places,
                                      bool (*takes_place)(const Candidate&)) const {
        std::vector<Entrant> best;
        std::set<std::string> families;
        for (std::size_t objective = 0; objective < objectives(); ++objective) {
            std::vector<Entrant> ranked = alive_;
            race_.rank(ranked, objective);
            int left =
                objective == 0 ? places : std::max(1, places / static_cast<int>(objectives() - 1));
            for (const Entrant entrant : ranked) {
                if (left == 0) break;
                if (!families.insert(family(candidate(entrant))).second) continue;
                best.push_back(entrant);
                if (takes_place(candidate(entrant))) --left;
            }
        }
        return best;
    }

    /// The paper's candidate that screened best for the first objective; kLibc if the paper's were
    /// not screened.
    Entrant best_of_paper() const {
        std::vector<Entrant> paper;
        for (const Entrant entrant : seen_) {
            if (in_paper(*candidate(entrant).variant)) paper.push_back(entrant);
        }
        race_.rank(paper);
        return paper.empty() ? kLibc : paper.front();
    }

    /// The same candidate without its prefetch stages, if that was screened, else kLibc.
    Entrant without_prefetch(Entrant entrant) const {
        const auto rest_of = [this](Entrant one) {
            return candidate(one).values_but({"pt", "ps", "pd"});
        };
        const std::string rest = rest_of(entrant);
        const auto found = std::ranges::find_if(seen_, [&](Entrant other) {
            return !candidate(other).prefetches() && rest_of(other) == rest;
        });
        return found == seen_.end() ? kLibc : *found;
    }

    const SizeSearch& asked_;
    const Rigor& rigor_;
    Race race_;
    bool extended_ = false;
    std::set<Entrant> seen_;     ///< screened
    std::vector<Entrant> alive_; ///< of those, not dropped yet
};

} // namespace

Entrant find_plain_copy(const std::vector<Candidate>& space, const std::vector<Entrant>& entrants) {
    const auto found = std::ranges::find_if(entrants, [&](Entrant entrant) {
        const Candidate& one = space[entrant.index()];
        return one.name() == one.variant->space->plain;
    });
    return found == entrants.end() ? kLibc : *found;
}

Found search_size(const SizeSearch& asked, const TimedCopies& timings) {
    if (asked.entrants.empty()) throw Failure("no candidate copies right on this machine");
    Search search(asked, timings);
    search.screen_entrants();
    const std::size_t extended = asked.extension ? search.screen_extension(*asked.extension) : 0;
    search.cut();
    const Entrant plain = find_plain_copy(asked.space, asked.entrants);
    return {search.race().run_offs(search.finalists(plain), asked.rigor.rounds, asked.neighbours,
                                   plain),
            extended};
}

} // namespace asterope
