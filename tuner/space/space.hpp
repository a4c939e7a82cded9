// The candidates of one machine: the rendered variants that its CPU runs, at every distance.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/cpu.hpp"
#include "space/candidates.h"
#include "space/limits.hpp"
#include "space/operation.hpp"

namespace asterope {

/// A value on an axis: a word or a number.
using AxisValue = std::variant<std::string, int>;
std::string to_text(const AxisValue& value);

/// All axes: of copies the paper's six, then those with a mark.
std::span<const asterope_axis> axes(const asterope_space& space = asterope_copies);

/// All variants, of any CPU.
std::span<const asterope_variant> variants(const asterope_space& space);

/// One point of the parameter space and the function that copies so.
struct Candidate {
    const asterope_variant* variant;
    int pd;     ///< prefetch distance in cache lines
    int pw = 0; ///< that of prefetchw, 0 where the variant has none

    /// The last argument of `variant->copy`: both distances in bytes, as candidates.h has them.
    std::size_t distance() const {
        return static_cast<std::size_t>(pw) * 64 << 32 | static_cast<std::size_t>(pd) * 64;
    }
    /// The axes of its space.
    std::span<const asterope_axis> axes() const { return asterope::axes(*variant->space); }
    /// "ZMM T NT T0 4 8": RT LT ST PT PS PD, as tables and logs have it. The axes that the paper
    /// lacks follow: " TB4 PI2 PW8 down".
    std::string name() const;
    bool prefetches() const { return variant->ps != 0; }
    bool prefetches_destination() const;
    /// Names its extension of the paper's tuples: "paper" without one, the name of the extension
    /// axis where one alone is not the paper's, "several" for more than one.
    std::string_view axis() const;
    AxisValue value(const asterope_axis& axis) const;
    /// Whether it has a value other than the default on an axis with a mark.
    bool is_marked() const;
    bool is_marked(const asterope_axis& axis) const;
    /// All its values but those on the axes with these fields: equal for candidates that differ in
    /// nothing else.
    std::string values_but(std::initializer_list<std::string_view> fields) const;
};

/// Whether every parameter of the candidate can act on a copy of `size` bytes: its blocks and
/// interleaved pages fit, its prefetches begin within the buffers. Otherwise a simpler candidate
/// executes the same instructions, or the same but for prefetches beyond the copy.
bool takes_effect(const Candidate& candidate, std::size_t size);

/// Up to so many bytes all pipelines with the variant's register type are one, which has no loop.
std::size_t short_way(const asterope_variant& variant);

/// A question to a CPU: does it have this feature?
using HasFeature = std::function<bool(std::string_view)>;

/// Whether this CPU has a feature and may use it. `without`: the names of features that the user
/// leaves out, or beginnings of several, like avx512. Throws BadInput for one with which no
/// feature's name begins.
HasFeature granted_features(const Cpu& cpu, const std::vector<std::string>& without = {});

/// Whether the CPU has all of `needs`, feature names with blanks in between.
bool has_all(std::string_view needs, const HasFeature& has);

/// The copy's word on an axis of its kind; "" for a number. The field must be one that its kind
/// has.
std::string word_of(const asterope_copy& copy, std::string_view field);

/// The most bytes that a small copy, or set, takes without calling another.
std::size_t bound_of(const asterope_copy& small);

/// The kinds of copies beside the pipelines that the operation of `space` has.
std::span<const asterope_kind> kinds_of(const asterope_space& space);
/// The kind of that name; null for an unknown name.
const asterope_kind* find_kind(const asterope_space& space, std::string_view name);

/// The copies of a kind whose CPU features `has` grants, simplest first.
std::vector<const asterope_copy*> copies_of(const asterope_kind& kind, const HasFeature& has);

/// Whether the variant is one of the paper's: on no extension axis anything but the default.
bool in_paper(const asterope_variant& variant);

/// All candidates of the paper space whose CPU feature `has` grants, simplest first. An operation
/// that the paper lacks has all candidates.
std::vector<Candidate> paper_space(const HasFeature& has,
                                   const asterope_space& space = asterope_copies);

/// The variants beyond the paper that the CPU runs, simplest first.
std::vector<const asterope_variant*> extension_variants(const HasFeature& has);

/// The same at every distance: the extension's candidates, simplest first.
std::vector<Candidate> extension_space(const HasFeature& has);

/// The candidates around `best` on the extension axes, simplest first. They have its rt, lt, st, pt
/// and pd with every value beyond the paper's. They have its ps or, where that does not exist
/// there, the nearest one that does, the shorter of two. Each register type beyond the paper's that
/// has its stores adds the same. Where its loads are non-temporal, so do plain ones, which have
/// more axes. Empty for register types without such axes.
std::vector<Candidate> neighbours(const Candidate& best, const HasFeature& has);

/// Every prefetch size and distance (and distance of prefetchw, where it has one) of `one`'s other
/// parameters, itself included.
std::vector<Candidate> distance_grid(const Candidate& one, const HasFeature& has);

} // namespace asterope
