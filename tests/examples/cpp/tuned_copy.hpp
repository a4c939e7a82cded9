// Copies ranges of plain objects with the tuned routine; refuses what memcpy leaves undefined.
#pragma once

#include "asterope_memcpy.h"

#include <cstddef>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace tuned {

// An array, a vector, a span, a string ...: elements side by side, and such that their bytes are
// all there is to them.
template <class Range>
concept Plain = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;

template <class From, class To>
concept CopiesTo = Plain<From> && Plain<To> &&
    std::is_same_v<std::ranges::range_reference_t<To>,
                   std::add_lvalue_reference_t<std::ranges::range_value_t<From>>>;

namespace detail {

template <class From, class To> std::size_t common_bytes(const From& from, const To& to) {
    if (std::ranges::size(from) != std::ranges::size(to))
        throw std::length_error("tuned: " + std::to_string(std::ranges::size(from)) +
                                " elements do not fill " + std::to_string(std::ranges::size(to)));
    return std::ranges::size(from) * sizeof(std::ranges::range_value_t<From>);
}

} // namespace detail

// Copies all of `from` over all of `to`. Throws std::length_error where they differ in length and
// std::invalid_argument where they overlap; nothing is written then.
template <class From, class To>
requires CopiesTo<From, To>
void copy(const From& from, To&& to) {
    const std::size_t bytes = detail::common_bytes(from, to);
    const auto* source = reinterpret_cast<const std::byte*>(std::ranges::data(from));
    auto* destination = reinterpret_cast<std::byte*>(std::ranges::data(to));
    const std::less<const std::byte*> before; // < itself says nothing about unrelated arrays
    if (before(source, destination + bytes) && before(destination, source + bytes))
        throw std::invalid_argument("tuned: source and destination overlap: use tuned::move");
    asterope_memcpy(destination, source, bytes);
}

// As copy, where the two may overlap.
template <class From, class To>
requires CopiesTo<From, To>
void move(const From& from, To&& to) {
    const std::size_t bytes = detail::common_bytes(from, to);
    asterope_memmove(std::ranges::data(to), std::ranges::data(from), bytes);
}

} // namespace tuned
