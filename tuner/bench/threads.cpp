// The threads begin a sample together, by spinning; the result is the rate of all their calls.
#include "bench/threads.hpp"

#include <algorithm>
#include <system_error>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

namespace {

/// Long against the time that the threads need to begin together (a microsecond or two).
constexpr double kSampleSeconds = 300e-6;

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Spins: a thread that sleeps would begin late. Within a sample this takes microseconds, but
/// workers also spin through calibration, printing and the end of the suite.
template <class Condition> void spin_until(const Condition& condition) {
    while (!condition()) relax();
}

} // namespace

Team::Team(const std::vector<int>& cpus, std::size_t arena_bytes, std::size_t largest_size,
           std::size_t cache_bytes) {
    for (std::size_t i = 0; i < cpus.size(); ++i) members_.push_back(std::make_unique<Member>());
    const auto set_up = [=](Member& member) {
        member.arena = std::make_unique<Arena>(arena_bytes);
        member.stopwatch = std::make_unique<Stopwatch>(*member.arena, largest_size, cache_bytes);
    };
    set_up(*members_.front());
    try {
        for (std::size_t i = 1; i < cpus.size(); ++i) {
            Member& member = *members_[i];
            threads_.emplace_back([this, &member, cpu = cpus[i], set_up] {
                try {
                    pin_this_thread(cpu);
                    set_up(member);
                } catch (...) {
                    member.error = std::current_exception();
                }
                ++ended_;
                for (std::uint64_t sample = 1;; ++sample) {
                    spin_until([&] { return over_ || begun_ >= sample; });
                    if (over_) return;
                    take_turn(member);
                }
            });
        }
    } catch (const std::exception& error) {
        over_ = true;
        throw Failure("cannot start " + std::to_string(cpus.size()) + " threads: " + error.what());
    }
    // it does not spin: this takes a while, and the others may still be on this CPU
    while (ended_ < threads_.size()) std::this_thread::yield();
    for (const auto& member : members_) {
        if (!member->error) continue;
        over_ = true;
        std::rethrow_exception(member->error);
    }
    ended_ = 0;
}

void Team::calibrate(std::size_t size, Workload workload) {
    Stopwatch& first = *members_.front()->stopwatch;
    first.calibrate(size, workload, kSampleSeconds);
    for (const auto& member : members_) {
        member->stopwatch->set_calibration(size, workload, first.calibration(size, workload));
    }
}

void Team::take_turn(Member& member) {
    const std::size_t everybody = members_.size() * begun_;
    ++arrived_;
    spin_until([&] { return arrived_ >= everybody; });
    try {
        member.seconds =
            member.stopwatch->time(task_.copy, task_.workload, task_.size, task_.round);
    } catch (...) {
        member.error = std::current_exception();
    }
    ++ended_;
}

double Team::time(const TimedCopy& copy, Workload workload, std::size_t size, std::uint64_t round) {
    task_ = {copy, workload, size, round};
    const std::size_t everybody = members_.size() * (begun_ + 1);
    ++begun_;
    take_turn(*members_.front());
    spin_until([&] { return ended_ >= everybody; });
    double calls_a_second = 0;
    for (const auto& member : members_) {
        if (member->error) std::rethrow_exception(member->error);
        calls_a_second += 1 / member->seconds;
    }
    return 1 / calls_a_second;
}

std::vector<int> thread_counts(std::size_t cpus) {
    std::vector<int> counts;
    for (std::size_t count = 1; count < cpus; count *= 2) counts.push_back(static_cast<int>(count));
    counts.push_back(static_cast<int>(cpus));
    return counts;
}

std::vector<Suite> thread_suites(const Setting& setting, const std::vector<int>& cpus,
                                 const std::vector<std::size_t>& sizes) {
    std::vector<Suite> suites;
    const std::size_t cache = last_cache_bytes(setting.machine);
    // one team at a time: its memory goes before the next one's comes
    const auto team = std::make_shared<std::unique_ptr<Team>>();
    for (const int threads : thread_counts(cpus.size())) {
        const std::vector<int> used(cpus.begin(), cpus.begin() + threads);
        // One thread's arena is divided among the threads. Each gets at least 32 MiB where memory
        // suffices, to fill its own cache several times.
        const std::size_t all = arena_bytes(sizes.back(), setting.machine);
        std::size_t own = std::max(all / static_cast<std::size_t>(threads), std::size_t{32} << 20);
        own = std::max(own, 4 * sizes.back());
        own = std::min(own, usable_memory(setting.machine) / 3 / static_cast<std::size_t>(threads));
        own = std::max(own / kHugePage, std::size_t{4}) * kHugePage;
        std::vector<std::size_t> fitting;
        for (const std::size_t size : sizes) {
            if (4 * size <= own) fitting.push_back(size);
        }
        if (fitting.empty()) continue;
        for (const Workload workload : {Workload::hot, Workload::cold}) {
            const std::string title = name_of(workload) + ", " + std::to_string(threads) +
                                      (threads == 1 ? " thread" : " threads");
            std::vector<Job> jobs;
            for (const std::size_t size : fitting) {
                Job job{"threads", name_of(workload), {format_size(size)}, size, threads};
                job.watched = threads == 1;
                const std::size_t untimed =
                    (4 + calls_to_choose(workload, size)) * size +
                    (is_uncached(workload) ? settling_bytes_of_sample(cache) : 0);
                job.sample_cost =
                    kSampleSeconds * 1.2 + static_cast<double>(untimed) / kBytesPerSecond;
                const bool first = size == fitting.front() && workload == Workload::hot;
                job.prepare = [=, largest = fitting.back()] {
                    if (first) {
                        team->reset();
                        *team = std::make_unique<Team>(used, own, largest, cache);
                    }
                    (*team)->calibrate(size, workload);
                };
                job.time = [=, &setting](const Contender& contender, std::uint64_t round,
                                         int cache_effect) -> PartSeconds {
                    return {(*team)->time(setting.timed(contender, cache_effect), workload, size,
                                          round)};
                };
                jobs.push_back(std::move(job));
            }
            suites.push_back(suite_of(title, setting, std::move(jobs)));
        }
    }
    return suites;
}

} // namespace asterope
