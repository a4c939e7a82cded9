// The step of a run that finds the copy of buffers that overlap.
#include "search/overlapping_search.hpp"

#include "run/steps.hpp"

namespace asterope {

SizeResult find_overlapping(Run& run) {
    run.show(Step::overlapping);
    std::mt19937_64 random = run.enter(Step::overlapping);
    const TimedCopy libc{.function = libc_move(), .name = "libc"};
    std::vector<TimedCopy> copies;
    for (const asterope_copy* one : run.spaces.overlapping_space) {
        copies.push_back({.function = one->copy, .name = one->name});
    }
    return search_overlapping(copies.size(), run.plan.rigor, random, {run.session, copies, libc});
}

} // namespace asterope
