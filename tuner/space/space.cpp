// The candidates of one machine: the rendered variants that its CPU runs, at every distance.
#include "space/space.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace asterope {

namespace {

constexpr std::string_view kDirect = "MOVDIR64B";

constexpr std::size_t kLine = 64, kPage = 4096; // bytes

/// Up to here a pipeline copies its first and last 128 bytes and runs no stage (pipeline.j2).
constexpr std::size_t kShortWay = 256;

std::span<const asterope_variant> all_variants() {
    return {asterope_variants, asterope_variant_count};
}

bool is_vector(std::string_view rt) {
    return rt == "XMM" || rt == "YMM" || rt == "ZMM";
}

bool same_kind(const asterope_variant& a, std::string_view rt, std::string_view lt,
               std::string_view st, std::string_view pt) {
    return a.rt == rt && a.lt == lt && a.st == st && a.pt == pt;
}

bool same_extension(const asterope_variant& a, const asterope_variant& b) {
    return a.tb == b.tb && a.pi == b.pi && a.pw == b.pw && std::string_view(a.dir) == b.dir;
}

/// The distances that there are to choose from; only 0 where there is no such stage.
std::vector<int> distances(bool any, const int* table, std::size_t count) {
    return any ? std::vector<int>(table, table + count) : std::vector<int>{0};
}
std::vector<int> prefetch_distances(const asterope_variant& variant) {
    return distances(variant.ps != 0, asterope_distances, asterope_distance_count);
}
std::vector<int> write_distances(const asterope_variant& variant) {
    return distances(variant.pw != 0, asterope_write_distances, asterope_write_distance_count);
}

void add_at_every_distance(std::vector<Candidate>& space, const asterope_variant& variant) {
    for (const int pd : prefetch_distances(variant)) {
        for (const int pw : write_distances(variant)) space.push_back({&variant, pd, pw});
    }
}

/// Of the variants of one kind those beyond the paper's, one for each point of the extension axes:
/// the one whose ps is nearest to `ps`.
std::vector<const asterope_variant*> nearest_of_each(std::string_view rt, std::string_view lt,
                                                     std::string_view st, std::string_view pt,
                                                     int ps, const HasFeature& has) {
    std::vector<const asterope_variant*> chosen;
    for (const asterope_variant& variant : all_variants()) {
        if (!same_kind(variant, rt, lt, st, pt) || in_paper(variant)) continue;
        if (!has_all(variant.needs, has)) continue;
        const auto other = std::find_if(chosen.begin(), chosen.end(),
                                        [&](const auto* v) { return same_extension(*v, variant); });
        if (other == chosen.end()) {
            chosen.push_back(&variant);
        } else if (std::abs(variant.ps - ps) < std::abs((*other)->ps - ps)) {
            *other = &variant; // the shorter one came first
        }
    }
    return chosen;
}

} // namespace

std::string Candidate::name() const {
    const auto& v = *variant;
    std::string text = std::string(v.rt) + ' ' + v.lt + ' ' + v.st + ' ' + v.pt + ' ' +
                       std::to_string(v.ps) + ' ' + std::to_string(pd);
    if (v.tb != 2) text += " TB" + std::to_string(v.tb);
    if (v.pi != 1) text += " PI" + std::to_string(v.pi);
    if (v.pw) text += " PW" + std::to_string(pw);
    if (v.dir != std::string_view("up")) text += std::string(" ") + v.dir;
    return text;
}

std::string_view Candidate::axis() const {
    const asterope_variant& v = *variant;
    std::vector<std::string_view> axes;
    if (v.rt == kDirect) axes.push_back("movdir64b");
    if (v.tb != 2) axes.push_back("tb");
    if (v.pi != 1) axes.push_back("pi");
    if (v.pw) axes.push_back("pw");
    if (v.dir != std::string_view("up")) axes.push_back("dir");
    if (axes.empty()) return "paper";
    return axes.size() == 1 ? axes.front() : "several";
}

bool takes_effect(const Candidate& candidate, std::size_t size) {
    const asterope_variant& v = *candidate.variant;
    const bool in_paper = candidate.axis() == "paper";
    if (std::string_view(v.rt).substr(0, 3) == "REP") return true;
    if (size <= kShortWay) {
        return in_paper && is_vector(v.rt) && v.lt == std::string_view("T") &&
               v.st == std::string_view("T") && !candidate.prefetches();
    }
    const auto lines = [](int count) { return static_cast<std::size_t>(count) * kLine; };
    if (v.tb > 2 && lines(v.tb) >= size) return false;
    if (v.pi > 1 && static_cast<std::size_t>(v.pi) * kPage >= size) return false;
    if (candidate.prefetches() && lines(candidate.pd) >= size) return false;
    return v.pw == 0 || lines(candidate.pw) < size;
}

bool has_all(std::string_view needs, const HasFeature& has) {
    while (!needs.empty()) {
        const std::size_t end = std::min(needs.find(' '), needs.size());
        if (!has(needs.substr(0, end))) return false;
        needs.remove_prefix(std::min(end + 1, needs.size()));
    }
    return true;
}

std::vector<const asterope_copy*> copies_of(const asterope_kind& kind, const HasFeature& has) {
    std::vector<const asterope_copy*> copies;
    for (std::size_t i = 0; i < kind.count; ++i) {
        if (has_all(kind.copies[i].needs, has)) copies.push_back(&kind.copies[i]);
    }
    return copies;
}

bool in_paper(const asterope_variant& v) {
    return v.rt != kDirect && v.tb == 2 && v.pi == 1 && v.pw == 0 &&
           v.dir == std::string_view("up");
}

std::vector<Candidate> paper_space(const HasFeature& has) {
    std::vector<Candidate> space;
    for (const asterope_variant& variant : all_variants()) {
        if (in_paper(variant) && has_all(variant.needs, has)) add_at_every_distance(space, variant);
    }
    return space;
}

std::vector<const asterope_variant*> extension_variants(const HasFeature& has) {
    std::vector<const asterope_variant*> variants;
    for (const asterope_variant& variant : all_variants()) {
        if (!in_paper(variant) && has_all(variant.needs, has)) variants.push_back(&variant);
    }
    return variants;
}

std::vector<Candidate> extension_space(const HasFeature& has) {
    std::vector<Candidate> space;
    for (const asterope_variant* variant : extension_variants(has)) {
        add_at_every_distance(space, *variant);
    }
    return space;
}

std::vector<Candidate> neighbours(const Candidate& best, const HasFeature& has) {
    const asterope_variant& v = *best.variant;
    const bool plain_too = v.lt == std::string_view("NT");
    std::vector<const asterope_variant*> variants;
    const auto add = [&](std::string_view rt, std::string_view lt) {
        for (const auto* variant : nearest_of_each(rt, lt, v.st, v.pt, v.ps, has)) {
            variants.push_back(variant);
        }
    };
    add(v.rt, v.lt);
    if (plain_too) add(v.rt, "T");
    if (is_vector(v.rt) && v.st == std::string_view("NT")) add(kDirect, "T");
    std::sort(variants.begin(), variants.end()); // all of one table, which begins with the simplest

    std::vector<Candidate> space;
    for (const asterope_variant* variant : variants) {
        for (const int pw : write_distances(*variant)) space.push_back({variant, best.pd, pw});
    }
    return space;
}

std::vector<Candidate> distance_grid(const Candidate& one, const HasFeature& has) {
    const asterope_variant& v = *one.variant;
    std::vector<Candidate> space;
    for (const asterope_variant& variant : all_variants()) {
        if (same_kind(variant, v.rt, v.lt, v.st, v.pt) && same_extension(variant, v) &&
            has_all(variant.needs, has)) {
            add_at_every_distance(space, variant);
        }
    }
    return space;
}

namespace {

/// One line: the axis and how many members have each of its values, in order of appearance.
template <class Member>
void count_axis(std::string& out, const char* axis, const std::vector<Member>& space,
                const std::function<std::string(const Member&)>& value) {
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const Member& member : space) {
        const std::string key = value(member);
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

std::string describe_space(const std::vector<Candidate>& paper,
                           const std::vector<const asterope_variant*>& extension) {
    std::string out = "paper space: " + std::to_string(paper.size()) + " candidates a size\n";
    const auto count = [&](const char* axis,
                           const std::function<std::string(const Candidate&)>& of) {
        count_axis(out, axis, paper, of);
    };
    count("RT", [](const Candidate& c) { return std::string(c.variant->rt); });
    count("LT", [](const Candidate& c) { return std::string(c.variant->lt); });
    count("ST", [](const Candidate& c) { return std::string(c.variant->st); });
    count("PT", [](const Candidate& c) { return std::string(c.variant->pt); });
    const auto lines = [](const Candidate& c, int value) {
        return c.prefetches() ? std::to_string(value) : std::string("-");
    };
    count("PS", [&](const Candidate& c) { return lines(c, c.variant->ps); });
    count("PD", [&](const Candidate& c) { return lines(c, c.pd); });

    using Variant = const asterope_variant*;
    out += "extension axes: " + std::to_string(extension.size()) +
           " variants, tried around the best of the paper space\n";
    const auto count_more = [&](const char* axis,
                                const std::function<std::string(const Variant&)>& of) {
        count_axis(out, axis, extension, of);
    };
    count_more("RT", [](const Variant& v) { return std::string(v->rt); });
    count_more("TB", [](const Variant& v) { return std::to_string(v->tb); });
    count_more("PI", [](const Variant& v) { return std::to_string(v->pi); });
    count_more("PW", [](const Variant& v) { return std::string(v->pw ? "yes" : "no"); });
    count_more("DIR", [](const Variant& v) { return std::string(v->dir); });
    return out;
}

} // namespace asterope
