// The shares by which several threads may copy together: their number and their chunks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace asterope {

/// How a copy is shared among threads.
struct ThreadShare {
    unsigned threads = 1;  ///< the caller included; 1: it copies alone
    std::size_t chunk = 0; ///< bytes that each copies at a time; 0: an even share for each
    bool operator==(const ThreadShare&) const = default;
};

/// "threads 2 chunk 1 MiB"; "threads 2 even".
std::string name_of(const ThreadShare& share);

/// All shares that are tried with up to `most` threads. One thread comes first, then the fewest;
/// with equal threads, the even share comes first. Their numbers are powers of two and `most`:
/// numbers in between differ by less than these do from one another.
std::vector<ThreadShare> all_shares(unsigned most);

/// Whether several threads share a copy of that size, which is large enough, and each of them gets
/// a chunk.
bool is_tried(const ThreadShare& share, std::size_t size);

} // namespace asterope
