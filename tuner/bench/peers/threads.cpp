// A copy cut in parts, one for each thread of a small pool.
#include "bench/peers/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "machine/affinity.hpp"

namespace asterope::peers {

namespace {

/// Waits for copies forever: its threads end with the process.
class Pool {
  public:
    Pool() {
        const std::size_t wanted = std::max<std::size_t>(2, allowed_cpus().size());
        try {
            // counted first: a thread must know its number, but only the next copy their total
            for (; parts_ < wanted; ++parts_) {
                std::thread([this, part = parts_] { work(part); }).detach();
            }
        } catch (const std::system_error&) { // then with those that there are
        }
    }

    /// False where another thread's copy is under way.
    bool copy(CopyFunction function, void* destination, const void* source, std::size_t bytes) {
        if (busy_.exchange(true, std::memory_order_acquire)) return false;
        job_ = {function, static_cast<char*>(destination), static_cast<const char*>(source), bytes,
                parts_};
        pending_.store(static_cast<int>(parts_) - 1, std::memory_order_relaxed);
        jobs_.fetch_add(1, std::memory_order_release);
        jobs_.notify_all();
        copy_part(0);
        while (const int pending = pending_.load(std::memory_order_acquire)) pending_.wait(pending);
        busy_.store(false, std::memory_order_release);
        return true;
    }

  private:
    struct Job {
        CopyFunction function;
        char* to;
        const char* from;
        std::size_t bytes, parts;
    };

    void work(std::size_t part) {
        for (std::uint32_t done = 0;; ++done) {
            jobs_.wait(done, std::memory_order_acquire);
            copy_part(part);
            if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
        }
    }

    /// Parts meet at line boundaries of the destination: no two threads write the same line.
    void copy_part(std::size_t part) const {
        const std::size_t begin = boundary(part), end = boundary(part + 1);
        job_.function(job_.to + begin, job_.from + begin, end - begin, 0);
    }
    std::size_t boundary(std::size_t part) const {
        if (part == 0) return 0;
        if (part == job_.parts) return job_.bytes;
        const std::size_t even = job_.bytes / job_.parts * part;
        return even - std::min(even, reinterpret_cast<std::uintptr_t>(job_.to + even) % 64);
    }

    std::size_t parts_ = 1; ///< the calling thread's, and one for each other
    Job job_{};
    std::atomic<std::uint32_t> jobs_ = 0; ///< so many were there; a thread does each
    std::atomic<int> pending_ = 0;        ///< parts of other threads under way
    std::atomic<bool> busy_ = false;
};

std::atomic<Pool*> the_pool = nullptr;
std::atomic<bool> starting = false;

/// A child has the memory of the pool, but not its threads.
void forget_pool() {
    the_pool = nullptr;
    starting = false;
}

/// Null where another thread is starting it, or no thread is to be had.
Pool* pool() {
    Pool* there = the_pool;
    if (there || starting.exchange(true)) return there;
    try {
        static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
        if (registered == 0) the_pool = there = new Pool;
    } catch (const Failure&) { // the CPUs are not told
    }
    return there;
}

} // namespace

void* copy_over_threads(CopyFunction copy, void* destination, const void* source,
                        std::size_t bytes) {
    Pool* const pool = bytes < kLeastOverThreads ? nullptr : peers::pool();
    if (!pool || !pool->copy(copy, destination, source, bytes)) {
        copy(destination, source, bytes, 0);
    }
    return destination;
}

} // namespace asterope::peers
