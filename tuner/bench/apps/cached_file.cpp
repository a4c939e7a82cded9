// A hash table finds a block of the cache, and a list keeps the order of use.
#include "bench/apps/cached_file.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"

namespace asterope {

BufferCache::BufferCache(std::size_t blocks, std::size_t block_bytes)
    : block_bytes_(block_bytes), memory_(blocks * block_bytes, FreshMemory::shared) {
    by_block_.reserve(blocks);
    for (std::size_t i = 0; i < blocks; ++i) free_.push_back(memory_.begin() + i * block_bytes);
}

char* BufferCache::find(std::uint64_t block) {
    const auto found = by_block_.find(block);
    if (found == by_block_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->data;
}

char* BufferCache::insert(std::uint64_t block) {
    if (free_.empty()) drop(by_use_.back().block);
    char* const data = free_.front();
    free_.pop_front();
    by_use_.push_front({block, data});
    by_block_[block] = by_use_.begin();
    return data;
}

void BufferCache::drop(std::uint64_t block) {
    const auto found = by_block_.find(block);
    if (found == by_block_.end()) return;
    free_.push_back(found->second->data);
    by_use_.erase(found->second);
    by_block_.erase(found);
}

template <class Each>
void CachedFile::for_blocks(std::size_t offset, std::size_t bytes, const Each& each) const {
    const std::size_t block_bytes = cache_.block_bytes();
    for (const std::size_t end = offset + bytes; offset < end;) {
        const std::size_t within = offset % block_bytes;
        const std::size_t part = std::min(block_bytes - within, end - offset);
        each(offset / block_bytes, within, part);
        offset += part;
    }
}

CachedFile::CachedFile(std::size_t bytes, std::size_t block_bytes)
    : cache_(bytes / block_bytes, block_bytes), versions_(bytes / block_bytes) {
    std::vector<std::uint64_t> blocks(versions_.size());
    std::iota(blocks.begin(), blocks.end(), 0);
    RandomStream random{0};
    shuffle(blocks, random);
    for (const std::uint64_t block : blocks) {
        data_of(block).write(cache_.insert(block), block_bytes);
    }
}

void CachedFile::read(char* buffer, std::size_t offset, std::size_t bytes, CopyFunction copy) {
    for_blocks(offset, bytes, [&](std::uint64_t block, std::size_t within, std::size_t part) {
        char* data = cache_.find(block);
        if (!data) {
            ++misses_;
            data = cache_.insert(block);
            data_of(block).write(data, cache_.block_bytes());
        }
        copy(buffer, data + within, part, 0);
        buffer += part;
    });
}

void CachedFile::write_elsewhere(std::size_t offset) {
    const std::uint64_t block = offset / cache_.block_bytes();
    ++versions_[block];
    cache_.drop(block);
}

std::uint64_t CachedFile::expected_sum(std::size_t offset, std::size_t bytes) const {
    std::uint64_t sum = 0;
    for_blocks(offset, bytes, [&](std::uint64_t block, std::size_t within, std::size_t part) {
        sum += data_of(block).sum(within, part);
    });
    return sum;
}

bool CachedFile::is_right(const char* buffer, std::size_t offset, std::size_t bytes) const {
    bool right = true;
    for_blocks(offset, bytes, [&](std::uint64_t block, std::size_t within, std::size_t part) {
        right &= data_of(block).is_at(buffer, within, part);
        buffer += part;
    });
    return right;
}

SequentialReader::SequentialReader(CachedFile& file, std::size_t read_bytes, unsigned misses)
    : file_(file), read_bytes_(read_bytes), interval_(misses ? 100 / misses : 0),
      buffer_(read_bytes) {
    if (interval_) due_ = random_() % interval_;
}

/// Writes before a read, untimed: the work of other clients costs them, not the reader.
void SequentialReader::write_what_is_due(std::size_t offset, std::size_t bytes) {
    // a read that begins within a block comes to a new one only at that block's end
    const std::size_t block_bytes = file_.block_bytes();
    for (std::size_t at = (offset + block_bytes - 1) / block_bytes * block_bytes;
         at < offset + bytes; at += block_bytes, ++blocks_) {
        if (!interval_ || blocks_ != due_) continue;
        file_.write_elsewhere(at);
        due_ = (blocks_ / interval_ + 1) * interval_ + random_() % interval_;
    }
}

double SequentialReader::run(CopyFunction copy, unsigned reads, bool consume, bool check) {
    std::uint64_t spent = 0;
    bool right = true;
    for (unsigned i = 0; i < reads; ++i) {
        write_what_is_due(position_, read_bytes_);
        std::uint64_t sum = 0;
        const std::uint64_t begin = ticks();
        file_.read(buffer_.get(), position_, read_bytes_, copy);
        if (consume) sum = read_copy(buffer_.get(), read_bytes_);
        spent += ticks() - begin;
        if (consume) right &= sum == file_.expected_sum(position_, read_bytes_);
        if (check) right &= file_.is_right(buffer_.get(), position_, read_bytes_);
        position_ = (position_ + read_bytes_) % file_.bytes();
    }
    if (!right) throw Failure("a read brought other data than the file has: a copy is wrong");
    return seconds_between(0, spent) / reads;
}

} // namespace asterope
