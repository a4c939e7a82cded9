// Parameter spaces of CPUs with some features, by the names of their candidates.
#pragma once

#include "space/space.hpp"
#include "support/unit_test.hpp"

namespace asterope {

using FeatureNames = std::set<std::string, std::less<>>;

inline HasFeature has_of(const FeatureNames& features) {
    return [features](std::string_view name) { return features.count(name) > 0; };
}

inline std::vector<Candidate> space_with(const FeatureNames& features) {
    return paper_space(has_of(features));
}

inline bool everything(std::string_view) {
    return true;
}

/// The paper's candidates and those beyond.
inline std::vector<Candidate> whole_space() {
    std::vector<Candidate> space = paper_space(everything);
    std::ranges::copy(extension_space(everything), std::back_inserter(space));
    return space;
}

/// Each has one of its own.
inline std::set<std::string> names(const std::vector<Candidate>& space) {
    std::set<std::string> all;
    for (const Candidate& candidate : space) {
        EXPECT_TRUE(all.insert(candidate.name()).second) << candidate.name() << " twice";
    }
    return all;
}

/// The candidate of that name.
inline Candidate named(const std::string& name, const std::vector<Candidate>& space) {
    for (const Candidate& candidate : space) {
        if (candidate.name() == name) return candidate;
    }
    ADD_FAILURE() << "no " << name;
    return space.front();
}

} // namespace asterope
