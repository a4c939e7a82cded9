// Filters the rendered tables, and multiplies each variant by its distances.
#include "space/space.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

constexpr std::size_t kLine = 64; // bytes

bool same_kind(const asterope_variant& a, std::string_view rt, std::string_view lt,
               std::string_view st, std::string_view pt) {
    return a.rt == rt && a.lt == lt && a.st == st && a.pt == pt;
}

bool is_default(const asterope_variant& variant, const asterope_axis& axis) {
    const int value = variant.marked[axis.place];
    return value == (axis.words ? 0 : axis.numbers[0]);
}

bool same_extension(const asterope_variant& a, const asterope_variant& b) {
    return std::equal(std::begin(a.marked), std::end(a.marked), std::begin(b.marked));
}

/// Whether its value on the axis is beyond the paper's.
bool is_beyond(const asterope_variant& variant, const asterope_axis& axis) {
    if (!axis.extension) return false;
    if (axis.mark) return !is_default(variant, axis);
    const char* const* end = axis.words + axis.paper;
    return std::find(axis.words, end, std::string_view(variant.rt)) == end;
}

/// The distances to choose from; only 0 for a variant without that stage.
std::vector<int> distances(bool any, const int* table, std::size_t count) {
    return any ? std::vector<int>(table, table + count) : std::vector<int>{0};
}
std::vector<int> prefetch_distances(const asterope_variant& variant) {
    return distances(variant.ps != 0, asterope_distances, asterope_distance_count);
}
std::vector<int> write_distances(const asterope_variant& variant) {
    return distances(Candidate{&variant, 0}.prefetches_destination(), asterope_write_distances,
                     asterope_write_distance_count);
}

void add_at_every_distance(std::vector<Candidate>& space, const asterope_variant& variant) {
    for (const int pd : prefetch_distances(variant)) {
        for (const int pw : write_distances(variant)) space.push_back({&variant, pd, pw});
    }
}

/// Variants of one kind beyond the paper's, one for each point of the extension axes: the one whose
/// ps is nearest to `ps`.
std::vector<const asterope_variant*> nearest_of_each(std::string_view rt, std::string_view lt,
                                                     std::string_view st, std::string_view pt,
                                                     int ps, const HasFeature& has) {
    std::vector<const asterope_variant*> chosen;
    for (const asterope_variant& variant : variants(asterope_copies)) {
        if (!same_kind(variant, rt, lt, st, pt) || in_paper(variant)) continue;
        if (!has_all(variant.needs, has)) continue;
        const auto other = std::ranges::find_if(
            chosen, [&](const auto* v) { return same_extension(*v, variant); });
        if (other == chosen.end()) {
            chosen.push_back(&variant);
        } else if (std::abs(variant.ps - ps) < std::abs((*other)->ps - ps)) {
            *other = &variant; // the shorter one came first
        }
    }
    return chosen;
}

const asterope_field& field_of(const asterope_copy& copy, std::string_view name) {
    const asterope_field* field = copy.fields;
    while (field->name && field->name != name) ++field;
    return *field;
}

} // namespace

std::span<const asterope_axis> axes(const asterope_space& space) {
    return {space.axes, space.axis_count};
}

std::span<const asterope_variant> variants(const asterope_space& space) {
    return {space.variants, space.variant_count};
}

std::string to_text(const AxisValue& value) {
    const int* number = std::get_if<int>(&value);
    return number ? std::to_string(*number) : std::get<std::string>(value);
}

AxisValue Candidate::value(const asterope_axis& axis) const {
    if (axis.argument) return axis.argument == 1 ? pd : pw;
    if (axis.mark) {
        const int value = variant->marked[axis.place];
        if (axis.words) return axis.words[value];
        return value;
    }
    const char* const words[] = {variant->rt, variant->lt, variant->st, variant->pt};
    if (axis.words) return words[axis.place];
    return variant->ps;
}

std::string Candidate::name() const {
    std::string text;
    for (const asterope_axis& axis : axes()) {
        if (axis.mark && is_default(*variant, axis)) continue;
        if (!text.empty()) text += ' ';
        if (axis.mark) text += axis.mark;
        text += to_text(value(axis));
    }
    return text;
}

std::string_view Candidate::axis() const {
    std::string_view name = "paper";
    for (const asterope_axis& axis : axes()) {
        if (!is_beyond(*variant, axis)) continue;
        if (name != "paper") return "several";
        name = axis.extension;
    }
    return name;
}

bool Candidate::prefetches_destination() const {
    return std::ranges::any_of(axes(), [&](const auto& axis) {
        return axis.argument == 2 && !is_default(*variant, axis);
    });
}

bool Candidate::is_marked(const asterope_axis& axis) const {
    return axis.mark && !is_default(*variant, axis);
}

bool Candidate::is_marked() const {
    return std::ranges::any_of(axes(), [&](const auto& axis) { return is_marked(axis); });
}

std::string Candidate::values_but(std::initializer_list<std::string_view> fields) const {
    std::string values;
    for (const asterope_axis& axis : axes()) {
        if (contains(fields, axis.field)) continue;
        values += to_text(value(axis));
        values += ' ';
    }
    return values;
}

bool takes_effect(const Candidate& candidate, std::size_t size) {
    const auto lines = [](int count) { return static_cast<std::size_t>(count) * kLine; };
    return size > static_cast<std::size_t>(candidate.variant->acts_above) &&
           lines(candidate.pd) < size && lines(candidate.pw) < size;
}

std::size_t short_way(const asterope_variant& variant) {
    int least = 0;
    for (const asterope_variant& one : variants(*variant.space)) {
        if (std::string_view(one.rt) != variant.rt || one.acts_above == 0) continue;
        least = least == 0 ? one.acts_above : std::min(least, one.acts_above);
    }
    return static_cast<std::size_t>(least);
}

HasFeature granted_features(const Cpu& cpu, const std::vector<std::string>& without) {
    const auto begins_with = [](const std::string& beginning) {
        return [&](std::string_view name) { return name.starts_with(beginning); };
    };
    std::vector<std::string> granted = cpu.features, known = granted;
    for (const OperationFacts& operation : kOperations) {
        for (const asterope_variant& variant : variants(*operation.space)) {
            const auto needs = split(variant.needs, ' ');
            known.insert(known.end(), needs.begin(), needs.end()); // this CPU may lack them
        }
    }
    for (const std::string& beginning : without) {
        if (beginning.empty() || std::ranges::none_of(known, begins_with(beginning))) {
            throw BadInput("--without '" + beginning.substr(0, 40) +
                           "' is not a CPU feature: name one as /proc/cpuinfo does, or the "
                           "beginning of several, like " +
                           kFeatureExamples[0]);
        }
        std::erase_if(granted, begins_with(beginning));
    }
    return [granted](std::string_view name) { return contains(granted, name); };
}

bool has_all(std::string_view needs, const HasFeature& has) {
    return needs.empty() || std::ranges::all_of(split(needs, ' '), std::cref(has));
}

std::string word_of(const asterope_copy& copy, std::string_view field) {
    const char* word = field_of(copy, field).word;
    return word ? word : "";
}

std::size_t bound_of(const asterope_copy& small) {
    return static_cast<std::size_t>(field_of(small, "bound").number);
}

std::span<const asterope_kind> kinds_of(const asterope_space& space) {
    return {space.kinds, space.kind_count};
}

const asterope_kind* find_kind(const asterope_space& space, std::string_view name) {
    const auto kinds = kinds_of(space);
    return find_in(kinds, name, &asterope_kind::name);
}

std::vector<const asterope_copy*> copies_of(const asterope_kind& kind, const HasFeature& has) {
    std::vector<const asterope_copy*> copies;
    for (std::size_t i = 0; i < kind.count; ++i) {
        if (has_all(kind.copies[i].needs, has)) copies.push_back(&kind.copies[i]);
    }
    return copies;
}

bool in_paper(const asterope_variant& v) {
    return std::ranges::none_of(axes(*v.space),
                                [&](const auto& axis) { return is_beyond(v, axis); });
}

std::vector<Candidate> paper_space(const HasFeature& has, const asterope_space& of) {
    std::vector<Candidate> space;
    for (const asterope_variant& variant : variants(of)) {
        if (in_paper(variant) && has_all(variant.needs, has)) add_at_every_distance(space, variant);
    }
    return space;
}

std::vector<const asterope_variant*> extension_variants(const HasFeature& has) {
    std::vector<const asterope_variant*> beyond;
    for (const asterope_variant& variant : variants(asterope_copies)) {
        if (!in_paper(variant) && has_all(variant.needs, has)) beyond.push_back(&variant);
    }
    return beyond;
}

std::vector<Candidate> extension_space(const HasFeature& has) {
    std::vector<Candidate> space;
    for (const auto* variant : extension_variants(has)) add_at_every_distance(space, *variant);
    return space;
}

std::vector<Candidate> neighbours(const Candidate& best, const HasFeature& has) {
    const asterope_variant& v = *best.variant;
    std::vector<const asterope_variant*> around;
    const auto add = [&](std::string_view rt, std::string_view lt) {
        for (const auto* variant : nearest_of_each(rt, lt, v.st, v.pt, v.ps, has)) {
            around.push_back(variant);
        }
    };
    const asterope_axis &rt = axes()[0], &lt = axes()[1];
    add(v.rt, v.lt);
    if (around.empty()) return {};
    if (std::string_view(v.lt) != lt.words[0]) add(v.rt, lt.words[0]);
    for (int i = rt.paper; i < rt.count; ++i) add(rt.words[i], lt.words[0]);
    std::ranges::sort(around); // all of one table, which begins with the simplest

    std::vector<Candidate> space;
    for (const asterope_variant* variant : around) {
        for (const int pw : write_distances(*variant)) space.push_back({variant, best.pd, pw});
    }
    return space;
}

std::vector<Candidate> distance_grid(const Candidate& one, const HasFeature& has) {
    const asterope_variant& v = *one.variant;
    std::vector<Candidate> space;
    for (const asterope_variant& variant : variants(*v.space)) {
        if (same_kind(variant, v.rt, v.lt, v.st, v.pt) && same_extension(variant, v) &&
            has_all(variant.needs, has)) {
            add_at_every_distance(space, variant);
        }
    }
    return space;
}

} // namespace asterope
