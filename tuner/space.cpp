// The candidates of one machine: the rendered variants that its CPU runs, at every distance.
#include "space.hpp"

#include <algorithm>
#include <cstdio>

namespace asterope {

std::string Candidate::name() const {
    const auto& v = *variant;
    return std::string(v.rt) + ' ' + v.lt + ' ' + v.st + ' ' + v.pt + ' ' + std::to_string(v.ps) +
           ' ' + std::to_string(pd);
}

bool has_all(std::string_view needs, const std::function<bool(std::string_view)>& has) {
    while (!needs.empty()) {
        const std::size_t end = std::min(needs.find(' '), needs.size());
        if (!has(needs.substr(0, end))) return false;
        needs.remove_prefix(std::min(end + 1, needs.size()));
    }
    return true;
}

std::vector<Candidate> paper_space(const std::function<bool(std::string_view)>& has) {
    std::vector<Candidate> space;
    for (std::size_t i = 0; i < asterope_variant_count; ++i) {
        const asterope_variant& variant = asterope_variants[i];
        if (!has_all(variant.needs, has)) continue;
        if (variant.ps == 0) {
            space.push_back({&variant, 0});
            continue;
        }
        for (std::size_t d = 0; d < asterope_distance_count; ++d) {
            space.push_back({&variant, asterope_distances[d]});
        }
    }
    return space;
}

namespace {

/// One line: the axis and how many candidates have each of its values, in order of appearance.
void count_axis(std::string& out, const char* axis, const std::vector<Candidate>& space,
                const std::function<std::string(const Candidate&)>& value) {
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const Candidate& candidate : space) {
        const std::string key = value(candidate);
        auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const auto& count) { return count.first == key; });
        if (found == counts.end()) found = counts.insert(counts.end(), {key, 0});
        ++found->second;
    }
    out += axis;
    for (const auto& [key, count] : counts) out += "  " + key + ": " + std::to_string(count);
    out += '\n';
}

} // namespace

std::string describe_space(const std::vector<Candidate>& space) {
    std::string out = "paper space: " + std::to_string(space.size()) + " candidates a size\n";
    count_axis(out, "RT", space, [](const Candidate& c) { return std::string(c.variant->rt); });
    count_axis(out, "LT", space, [](const Candidate& c) { return std::string(c.variant->lt); });
    count_axis(out, "ST", space, [](const Candidate& c) { return std::string(c.variant->st); });
    count_axis(out, "PT", space, [](const Candidate& c) { return std::string(c.variant->pt); });
    const auto lines = [](const Candidate& c, int value) {
        return c.prefetches() ? std::to_string(value) : std::string("-");
    };
    count_axis(out, "PS", space, [&](const Candidate& c) { return lines(c, c.variant->ps); });
    count_axis(out, "PD", space, [&](const Candidate& c) { return lines(c, c.pd); });
    return out;
}

} // namespace asterope
