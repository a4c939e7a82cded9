// The program around a copy, as the timings play it: it writes the source and reads the copy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asterope {

/// The one reader of all workloads. It loads every byte once, in ascending order, 8 at a time as a
/// parser or a hash does, then the last ones singly. Returns the sum (modulo 2^64) of the words, as
/// the machine orders their bytes, and of the last bytes. A change of one byte changes it.
std::uint64_t read_copy(const char* at, std::size_t bytes);

/// Loads the last word, of 8 bytes or where there are fewer of one, and returns it.
std::uint64_t read_end(const char* at, std::size_t bytes);

/// All sources are written by this function. It stores the words `value`, `value` + 1, ... over all
/// bytes, 8 at a time, as a program fills in a record. The rest gets the first bytes of the next
/// word.
void write_source(char* at, std::size_t bytes, std::uint64_t value);

/// Makes the compiler believe that the value is used.
inline void keep(std::uint64_t value) {
    __asm__ volatile("" : : "r"(value) : "memory");
}

} // namespace asterope
