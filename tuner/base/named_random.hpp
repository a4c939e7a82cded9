// Random numbers by name: what each part of a run draws depends on its name and the seed alone.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace asterope {

/// A generator for the part called `name`: the same in every run with this seed, whatever other
/// parts drew before. One generator for all would make each part depend on how far the others got.
inline std::mt19937_64 named_random(std::uint64_t seed, std::string_view name) {
    std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(seed),
                                        static_cast<std::uint32_t>(seed >> 32)};
    for (const char c : name) words.push_back(static_cast<unsigned char>(c));
    std::seed_seq sequence(words.begin(), words.end());
    return std::mt19937_64(sequence);
}

} // namespace asterope
