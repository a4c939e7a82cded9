// Copies of less than 32 bytes, for peers whose loops begin above that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asterope::peers {

/// A word at any address, among data of any type.
template <class Word> struct __attribute__((packed, may_alias)) Anywhere { Word word; };

template <class Word> inline void move_word(char* to, const char* from) {
    reinterpret_cast<Anywhere<Word>*>(to)->word =
        reinterpret_cast<const Anywhere<Word>*>(from)->word;
}

/// `bytes` from sizeof(Word) to twice that: two words that may overlap.
template <class Word> inline void move_two(char* to, const char* from, std::size_t bytes) {
    move_word<Word>(to, from);
    move_word<Word>(to + bytes - sizeof(Word), from + bytes - sizeof(Word));
}

/// Copies `bytes` below 32. std::memcpy of fixed sizes will not do: without optimization, that is a
/// call of libc's.
inline void copy_below_32(char* to, const char* from, std::size_t bytes) {
    if (bytes >= 16) {
        move_two<std::uint64_t>(to, from, 16);
        move_two<std::uint64_t>(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        move_two<std::uint64_t>(to, from, bytes);
    } else if (bytes >= 4) {
        move_two<std::uint32_t>(to, from, bytes);
    } else if (bytes >= 2) {
        move_two<std::uint16_t>(to, from, bytes);
    } else if (bytes) {
        *to = *from;
    }
}

} // namespace asterope::peers
