// The section `single_timings`: the distribution of single calls' times, alone and beside a
// neighbour that streams memory.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"
#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "timing/clock.hpp"

namespace asterope::diagnosis {

namespace {

constexpr double kPercents[] = {0, 1, 10, 50, 90, 99, 99.9, 100};

std::string percent_name(double percent) {
    if (percent == 0) return "least";
    if (percent == 100) return "most";
    return formatted("%g %%", percent);
}

/// A thread that copies through more memory than any cache holds, on another CPU, as long as it
/// lives.
class Neighbour {
  public:
    Neighbour(int cpu, std::size_t bytes_a_side)
        : memory_(bytes_a_side), begin_(ticks()), thread_([this, cpu](const std::stop_token& stop) {
              try {
                  pin_this_thread(cpu);
              } catch (const Failure&) { // it runs where it may
              }
              constexpr std::size_t step = std::size_t{1} << 20;
              for (std::size_t at = 0; !stop.stop_requested(); at = (at + step) % memory_.bytes()) {
                  std::memcpy(memory_.destination() + at, memory_.source() + at, step);
                  copied_ += step;
              }
          }) {}

    double gb_per_s() const {
        return static_cast<double>(copied_) / seconds_between(begin_, ticks()) / 1e9;
    }

  private:
    Arena memory_;
    std::atomic<std::size_t> copied_ = 0;
    std::uint64_t begin_;
    std::jthread thread_; // last: it uses all of the above
};

enum Timed { kLibc, kLibcAgain, kWinner, kNothing };
constexpr std::pair<Timed, const char*> kNames[] = {
    {kLibc, "libc"}, {kLibcAgain, "libc again"}, {kWinner, "winner"}, {kNothing, "nothing"}};

/// Seconds of single calls, sorted, by the timed copy; all in turn, in shuffled rounds.
std::vector<std::vector<double>> time_singly(std::size_t size, const Context& context, int rounds,
                                             double share) {
    const TimedCopy* winner = context.winners.at(size);
    std::vector<int> entrants = {kLibc, kLibcAgain, kNothing};
    if (winner) entrants.push_back(kWinner);
    std::vector<std::vector<double>> timings(4);
    for (auto& own : timings) own.reserve(static_cast<std::size_t>(rounds));
    std::mt19937_64 random(1);
    const TimedCopy libc{libc_copy()};
    for (int round = 0; round < rounds; ++round) {
        if (round % 64 == 0) throw_if_interrupted();
        const std::size_t place = roam(static_cast<std::uint64_t>(round));
        char* destination = context.arena.destination() + kPhase + place;
        const char* source = context.arena.source() + place;
        shuffle(entrants, random);
        for (const int who : entrants) {
            const TimedCopy& copy = who == kWinner ? *winner : libc;
            clean_vector_state();
            copy(destination, source, size); // so the caches are its own work
            const std::uint64_t begin = ticks();
            if (who != kNothing) copy(destination, source, size);
            const std::uint64_t end = ticks();
            timings[static_cast<std::size_t>(who)].push_back(seconds_between(begin, end));
        }
        context.timings.progress.advance(share / rounds);
    }
    for (auto& own : timings) std::ranges::sort(own);
    return timings;
}

/// The verdict's words about one copy.
std::string spread_of(const std::vector<Spread>& spreads, const std::string& copy) {
    std::string tails, medians;
    for (const Spread& spread : spreads) {
        if (spread.copy != copy) continue;
        tails += (tails.empty() ? "" : ", ") + format_factor(spread.tail / spread.median) +
                 (tails.empty() ? " x the median (" : " x (") + format_size(spread.size) + ' ' +
                 spread.beside + ')';
        for (const Spread& alone : spreads) {
            if (alone.copy != copy || alone.size != spread.size || &alone == &spread) continue;
            if (alone.beside != kAlone) continue;
            medians += (medians.empty() ? "" : ", ") + format_factor(spread.median / alone.median) +
                       " x (" + format_size(spread.size) + ')';
        }
    }
    if (tails.empty()) return "";
    return copy + ": the slowest call of 1000 takes " + tails +
           (medians.empty() ? "" : ", and the neighbour makes the median " + medians);
}

/// A copy's percentiles in table and report. `sorted`: the seconds of its calls.
void add_row(Section& section, const Spread& spread, const std::vector<double>& sorted) {
    std::vector<std::string> cells = {format_size(spread.size) + ", " + spread.beside + ": " +
                                      spread.copy};
    auto percentiles = nlohmann::ordered_json::object();
    for (const double percent : kPercents) {
        const double seconds = percentile(sorted, percent);
        cells.push_back(format_time(seconds));
        percentiles[percent == 0 || percent == 100 ? percent_name(percent)
                                                   : nlohmann::json(percent).dump()] =
            seconds * 1e9;
    }
    const double mean =
        std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
    cells.push_back(format_time(mean));
    section.cells.push_back(std::move(cells));
    section.rows.push_back({{"size", spread.size},
                            {"neighbour", spread.beside != kAlone},
                            {"copy", spread.copy},
                            {"calls", sorted.size()},
                            {"mean_ns", mean * 1e9},
                            {"percentiles_ns", std::move(percentiles)}});
}

} // namespace

std::string spread_verdict(const std::vector<Spread>& spreads) {
    const std::string winner = spread_of(spreads, "winner");
    return spread_of(spreads, "libc") + (winner.empty() ? "" : "; " + winner);
}

Section single_timings(const Context& context) {
    Section section;
    section.question = "how are the times of single calls distributed, alone and beside a noisy "
                       "neighbour?";
    section.columns = {"single calls"};
    for (const double percent : kPercents) section.columns.push_back(percent_name(percent));
    section.columns.emplace_back("mean");
    // enough for the last percentiles to mean something: 40 and more calls beyond 99.9 %
    const int rounds = context.rounds * 1300;
    const std::size_t stream = std::clamp(4 * last_cache_bytes(context.machine),
                                          std::size_t{64} << 20, std::size_t{256} << 20) /
                               2;
    const bool with_neighbour = !context.other_cpus.empty();
    // a neighbour that fills the shared cache takes it from the copy
    const std::size_t third = std::min(last_cache_bytes(context.machine) / 3, context.largest_copy);
    const std::size_t sizes[] = {4 << 10, 256 << 10, std::max<std::size_t>(third, 512 << 10)};
    const double share = with_neighbour ? 1.0 / 6 : 1.0 / 3;

    std::vector<Spread> spreads;
    double step = 0;
    const auto measure = [&](const std::string& beside) {
        for (const std::size_t size : sizes) {
            const int fewer = rounds / static_cast<int>(std::max<std::size_t>(size >> 18, 1));
            const auto timings = time_singly(size, context, std::max(fewer, 101), share);
            for (const auto& [who, name] : kNames) {
                if (timings[who].empty()) continue;
                spreads.push_back({size, beside, name, percentile(timings[who], 50),
                                   percentile(timings[who], 99.9)});
                add_row(section, spreads.back(), timings[who]);
                if (who != kWinner) continue;
                section.rows.back()["candidate"] = context.winners.at(size)->name;
            }
            step = clock_step(timings[kNothing]);
        }
    };
    measure(kAlone);
    if (with_neighbour) {
        const int cpu = context.other_cpus.front();
        const Neighbour neighbour(cpu, stream);
        measure("beside a neighbour");
        section.notes.emplace_back(
            formatted("the neighbour copied %.1f GB/s on CPU %d", neighbour.gb_per_s(), cpu));
    } else {
        section.notes.push_back("no neighbour: this process may use one CPU only");
    }
    if (std::isfinite(step))
        section.notes.push_back("the clock goes in steps of " + format_time(step));
    section.notes.push_back("nothing: the clock's own time, which is part of all others");
    section.verdict = spread_verdict(spreads);
    return section;
}

} // namespace asterope::diagnosis
