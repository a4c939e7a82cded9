// Findings that a search might have, for tests of the code that writes and prints them.
#pragma once

#include <algorithm>
#include <vector>

#include "profile/make_profile.hpp"

namespace asterope {

/// Spaces with these members and no others.
struct MadeUpSpaces : Spaces {
    explicit MadeUpSpaces(const std::vector<Candidate>& pipelines, const Members& small = {})
        : Spaces(granted_features(Cpu()), false, false, Operation::copy, Invalids()) {
        space = pipelines;
        kinds = {{find_kind(asterope_copies, "small"), small}};
    }
};

/// Copies of so many bytes over two threads, or over one that two do not beat.
inline Choice made_up_sharing(std::size_t size, double ratio) {
    Choice choice;
    choice.kind = ChoiceKind::threads;
    choice.above = size - 1;
    choice.size = choice.up_to = size;
    choice.copy = ratio > 1 ? ThreadShare{2, 65536} : ThreadShare();
    choice.ratio = std::max(1.0, ratio);
    choice.runners_up = {{ThreadShare{2, 65536}, ratio, false}};
    return choice;
}

} // namespace asterope
