// Checks the copies and the refusals of tuned::copy and tuned::move.
#include "tuned_copy.hpp"

#undef NDEBUG // else nothing would be checked
#include <array>
#include <cassert>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Point {
    double x, y;
    bool operator==(const Point&) const = default;
};

template <class From, class To>
concept Copies = requires(From from, To to) {
    tuned::copy(from, to);
};

// A copy of memory that is not plain, or that would change its type on the way, does not compile.
static_assert(Copies<std::vector<int>, std::span<int>>);
static_assert(!Copies<std::vector<int>, std::vector<unsigned>>);
static_assert(!Copies<std::vector<std::string>, std::vector<std::string>>);
static_assert(!Copies<std::vector<bool>, std::vector<bool>>);
static_assert(!Copies<std::vector<int>, const std::vector<int>>);

template <class Error, class Action> bool refuses(Action action) {
    try {
        action();
    } catch (const Error&) {
        return true;
    }
    return false;
}

} // namespace

int main() {
    for (const std::size_t size : {0, 1, 100, 5000, 3000000}) {
        std::vector<int> from(size), to(size);
        std::iota(from.begin(), from.end(), 7);
        tuned::copy(from, to);
        assert(from == to);
    }

    const std::array<Point, 2> points{{{1, 2}, {3, 4}}};
    std::array<Point, 2> copied{};
    tuned::copy(points, copied);
    assert(points == copied);

    std::vector<int> numbers(10);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::vector<int> before = numbers;
    const std::span<int> all(numbers);
    assert(refuses<std::length_error>([&] { tuned::copy(all.first(3), all.last(4)); }));
    assert(refuses<std::invalid_argument>([&] { tuned::copy(all.first(6), all.last(6)); }));
    assert(refuses<std::invalid_argument>([&] { tuned::copy(all.last(6), all.first(6)); }));
    assert(numbers == before);              // a refused copy writes nothing
    tuned::copy(all.first(5), all.last(5)); // neighbours do not overlap
    assert((numbers == std::vector{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
    tuned::move(all.first(8), all.last(8));
    assert((numbers == std::vector{0, 1, 0, 1, 2, 3, 4, 0, 1, 2}));
    std::cout << "ok\n";
}
