// The entrants of a race, which are not just indices.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

namespace asterope {

/// A copy in a race: one of the caller's list, or libc, which runs under two names, or a reference,
/// by which winners are judged besides libc. How far libc seems to be from libc is the noise floor.
/// Copies of the list ascend by their index, behind all others.
class Entrant {
  public:
    /// The copy at this index of the caller's list.
    template <std::integral Index>
    constexpr Entrant(Index index) : number_(static_cast<int>(index)) {}
    constexpr Entrant() : Entrant(0) {}
    static constexpr Entrant libc() { return -1; }
    static constexpr Entrant libc_again() { return -2; }
    static constexpr Entrant reference(std::size_t index) {
        return kFirstReference - static_cast<int>(index);
    }

    constexpr bool is_listed() const { return number_ >= 0; }
    constexpr bool is_reference() const { return number_ <= kFirstReference; }
    /// Of a copy in the caller's list, or of a reference among the references.
    constexpr std::size_t index() const {
        return static_cast<std::size_t>(is_reference() ? kFirstReference - number_ : number_);
    }
    constexpr auto operator<=>(const Entrant&) const = default;

  private:
    static constexpr int kFirstReference = -3; ///< the others have the numbers below
    int number_;
};

inline constexpr Entrant kLibc = Entrant::libc(), kLibcAgain = Entrant::libc_again();

/// The entrants of a list of `count` copies.
inline std::vector<Entrant> all_entrants(std::size_t count) {
    std::vector<Entrant> all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(i);
    return all;
}

} // namespace asterope
