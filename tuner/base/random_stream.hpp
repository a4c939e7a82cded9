// Small random streams, each from numbers that name it.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace asterope {

/// splitmix64 (Steele, Lea and Flood, 2014): eight bytes of state, where a Mersenne twister has
/// 2500 and takes a microsecond to begin.
class RandomStream {
  public:
    explicit RandomStream(std::uint64_t state) : state_(state) {}
    /// One of its own for each list of numbers.
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

} // namespace asterope
