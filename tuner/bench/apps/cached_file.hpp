// A file that is read through a file system client's buffer cache: the case for a faster memcpy in
// Asterope's paper (PLOS 2021).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "bench/apps/sequence.hpp"
#include "bench/apps/user_buffer.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// Blocks of one size, found by number and kept in the order of their use. The least recently used
/// one gives way. Their data is in memory that processes could share, as clients that serve several
/// have it.
class BufferCache {
  public:
    /// Room for so many blocks. Throws Failure where the memory is not to be had.
    BufferCache(std::size_t blocks, std::size_t block_bytes);

    /// Returns the block's data and makes the block the most recently used. Null if it is missing.
    char* find(std::uint64_t block);

    /// Makes room for the data of a block that is not in the cache. That block becomes the most
    /// recently used. The room is that of a block that was dropped, of one never used, or of the
    /// least recently used, which then leaves the cache.
    char* insert(std::uint64_t block);

    /// Forgets a block, as when the server says that another client has written it. A block that is
    /// missing stays missing.
    void drop(std::uint64_t block);

    std::size_t size() const { return by_block_.size(); } ///< blocks that are there
    std::size_t block_bytes() const { return block_bytes_; }

  private:
    struct Entry {
        std::uint64_t block;
        char* data;
    };
    std::size_t block_bytes_;
    FreshMemory memory_;      ///< shared
    std::list<Entry> by_use_; ///< the most recently used first
    std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_block_;
    std::list<char*> free_; ///< the next one to be used first
};

/// A file of a distant server, wholly cached, except that others write to it now and then. A block
/// that another client wrote is dropped from the cache. The next read of it is a miss, which
/// fetches the block anew.
///
/// The model has these parts of a user-level client (as Polytropon's). A read finds each of its
/// blocks through a hash table and the order of use. It copies the wanted bytes out of the block,
/// into the application's buffer.
///
/// The model leaves out the network, which does not copy here. A fetched block's data is written
/// into the cache with ordinary stores, as a receiver would leave it. Locks, and the way from the
/// application to the client, are left out too: they would make all copies alike.
///
/// Neighbours in the file are far apart in the cache: it is filled in random order, as a cache is
/// after a while.
class CachedFile {
  public:
    /// A file of so many bytes, a multiple of the block's size, which is a multiple of 8. Throws
    /// Failure where the memory does not suffice.
    CachedFile(std::size_t bytes, std::size_t block_bytes);

    std::size_t block_bytes() const { return cache_.block_bytes(); }
    std::size_t bytes() const { return versions_.size() * cache_.block_bytes(); }

    /// The client's read: `offset` and `bytes` lie within the file.
    void read(char* buffer, std::size_t offset, std::size_t bytes, CopyFunction copy);

    /// Others write the block that holds this byte: it has new data, and the cache drops it.
    void write_elsewhere(std::size_t offset);

    /// The sum that a right read has, and whether the buffer holds the right data, word for word.
    /// Both ends are multiples of 8.
    std::uint64_t expected_sum(std::size_t offset, std::size_t bytes) const;
    bool is_right(const char* buffer, std::size_t offset, std::size_t bytes) const;

    std::uint64_t misses() const { return misses_; } ///< blocks that reads did not find, so far

  private:
    /// The data of a block as the server now has it.
    Sequence data_of(std::uint64_t block) const {
        return {RandomStream{block, versions_[block]}()};
    }
    /// Calls `each(block, offset within it, bytes)` for the blocks of a range.
    template <class Each>
    void for_blocks(std::size_t offset, std::size_t bytes, const Each& each) const;

    BufferCache cache_;
    std::vector<std::uint32_t> versions_; ///< by block: how often others have written it
    std::uint64_t misses_ = 0;
};

/// An application that reads such a file from one end to the other, again and again, into one
/// buffer.
class SequentialReader {
  public:
    /// In every hundred blocks that the reader comes to, `misses` are misses: 0, or a divisor of
    /// 100. They cut the hundred into equal parts, and each part has one at a random place. Reads
    /// are of `read_bytes`, which divide the file. Throws Failure where the memory does not suffice
    /// for the buffer.
    SequentialReader(CachedFile& file, std::size_t read_bytes, unsigned misses);

    /// Goes on for so many reads. With `consume`, the application reads each buffer it gets, in the
    /// timing. Returns the seconds a read. With `check`, each read is compared word for word
    /// (untimed). Throws Failure where a read brings other data than the file has.
    double run(CopyFunction copy, unsigned reads, bool consume, bool check);

  private:
    void write_what_is_due(std::size_t offset, std::size_t bytes);

    CachedFile& file_;
    std::size_t read_bytes_;
    std::uint64_t interval_; ///< blocks among which one is a miss; 0: all are hits
    std::size_t position_ = 0;
    std::uint64_t blocks_ = 0, due_ = 0; ///< blocks come to so far, and which one is a miss next
    RandomStream random_{1};
    UserBuffer buffer_;
};

} // namespace asterope
