// Random numbers that are the same in every run and with every standard library: streams named by
// numbers or by text, and shuffling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace asterope {

/// splitmix64 (Steele, Lea and Flood, 2014): eight bytes of state, where a Mersenne twister has
/// 2500 and takes a microsecond to begin.
class RandomStream {
  public:
    explicit RandomStream(std::uint64_t state) : state_(state) {}
    /// Each list of numbers has its own stream.
    RandomStream(std::initializer_list<std::uint64_t> names) : state_(0) {
        for (const std::uint64_t name : names) state_ = RandomStream(state_ ^ name)();
    }

    std::uint64_t operator()() {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

/// A generator for the part called `name`: the same in every run with this seed, independent of the
/// draws of other parts. One generator for all would make each part depend on how far the others
/// got.
inline std::mt19937_64 named_random(std::uint64_t seed, std::string_view name) {
    std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(seed),
                                        static_cast<std::uint32_t>(seed >> 32)};
    for (const char c : name) words.push_back(static_cast<unsigned char>(c));
    std::seed_seq sequence(words.begin(), words.end());
    return std::mt19937_64(sequence);
}

/// Fisher-Yates, with std::mt19937_64 or another generator of 64 bits; std::shuffle leaves it to
/// the library how random numbers become positions.
template <class T, class Random> void shuffle(std::vector<T>& values, Random& random) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

} // namespace asterope
