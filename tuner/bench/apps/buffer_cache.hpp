// A buffer cache as a file system's client has one in its own memory: blocks by number, the least
// recently used gives way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "bench/apps/shared_memory.hpp"

namespace asterope {

/// Blocks of one size, found through a hash table and kept in the order of their use. Their data is
/// in memory that processes could share, as clients that serve several have it.
class BufferCache {
  public:
    /// Room for so many blocks. Throws Failure where the memory is not to be had.
    BufferCache(std::size_t blocks, std::size_t block_bytes);

    /// The block's data, and it becomes the most recently used. Null where it is not there.
    char* find(std::uint64_t block);

    /// Room for the data of a block that is not there, which becomes the most recently used: that
    /// of a block that was dropped, of one never used, or of the least recently used, which is then
    /// there no longer.
    char* insert(std::uint64_t block);

    /// Forgets a block, as when the server says that somebody else has written it. Nothing where it
    /// is not there.
    void drop(std::uint64_t block);

    std::size_t size() const { return by_block_.size(); } ///< blocks that are there
    std::size_t block_bytes() const { return block_bytes_; }

  private:
    struct Entry {
        std::uint64_t block;
        char* data;
    };
    std::size_t block_bytes_;
    SharedMemory memory_;
    std::list<Entry> by_use_; ///< the most recently used first
    std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_block_;
    std::list<char*> free_; ///< the next one to be used first
};

} // namespace asterope
