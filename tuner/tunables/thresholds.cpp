// glibc's rule in three comparisons; the choice tries all thresholds that the sizes can tell apart.
#include "tunables/thresholds.hpp"

#include <algorithm>
#include <cmath>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"

namespace asterope {

namespace {

/// From so many times the non-temporal threshold on it takes four pages side by side instead of
/// two: LOG_4X_MEMCPY_THRESH in glibc's source.
constexpr std::size_t kFourPagesFrom = 16;

/// The values worth trying: the present one, then one between each size and the next.
std::vector<std::size_t> values_of(const Tunable& tunable, std::size_t now,
                                   const std::vector<SizeWays>& sizes) {
    std::vector<std::size_t> values = {now};
    const auto add = [&](std::size_t from, std::size_t wanted, std::size_t to) {
        const std::size_t value = std::clamp(wanted, tunable.least, tunable.most);
        if (from <= value && value < to) values.push_back(value);
    };
    add(0, tunable.least, sizes.front().size);
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        const std::size_t from = sizes[i].size, to = sizes[i + 1].size;
        const double middle = std::sqrt(static_cast<double>(from) * static_cast<double>(to));
        add(from, static_cast<std::size_t>(middle), to);
    }
    add(sizes.back().size, kNever, kNever + 1);
    return values;
}

/// How far apart two settings are: factors, as logarithms.
double distance(const CopyThresholds& one, const CopyThresholds& other) {
    const auto apart = [](std::size_t a, std::size_t b) {
        return std::abs(std::log(static_cast<double>(a) + 1) -
                        std::log(static_cast<double>(b) + 1));
    };
    return apart(one.rep_movsb, other.rep_movsb) + apart(one.stop, other.stop) +
           apart(one.non_temporal, other.non_temporal);
}

/// Over all sizes. The default's way is worth 0, and so is one that was not timed.
double sum_of_worths(const CopyThresholds& thresholds, const std::vector<SizeWays>& sizes) {
    double sum = 0;
    for (const SizeWays& one : sizes) {
        const auto* found = find_in(one.ways, way_of(thresholds, one.size), &WayResult::way);
        if (found) sum += found->worth;
    }
    return sum;
}

} // namespace

const char* name_of(Way way) {
    constexpr const char* kNames[] = {"vector", "rep_movsb", "non_temporal_2", "non_temporal_4"};
    return kNames[static_cast<int>(way)];
}

const char* words_of(Way way) {
    constexpr const char* kWords[] = {"vector loop", "rep movsb", "non-temporal",
                                      "non-temporal x4"};
    return kWords[static_cast<int>(way)];
}

CopyThresholds copy_thresholds(const LibcThresholds& thresholds) {
    const std::size_t non_temporal = value_in(thresholds, kNonTemporalThreshold, kNever);
    return {value_in(thresholds, kRepMovsbThreshold, kNever),
            value_in(thresholds, kRepMovsbStopThreshold, non_temporal), non_temporal};
}

Way way_of(const CopyThresholds& thresholds, std::size_t size) {
    if (size > thresholds.rep_movsb && size < thresholds.stop) return Way::rep_movsb;
    if (size <= thresholds.non_temporal) return Way::vector;
    return size / kFourPagesFrom >= thresholds.non_temporal ? Way::non_temporal_4
                                                            : Way::non_temporal_2;
}

std::string describe(const CopyThresholds& thresholds) {
    std::string text;
    if (thresholds.rep_movsb < thresholds.stop && thresholds.rep_movsb < kNever) {
        text = "rep movsb above " + format_size(thresholds.rep_movsb);
        if (thresholds.stop < kNever) text += " and below " + format_size(thresholds.stop);
        text += ", ";
    }
    if (thresholds.non_temporal < kNever) {
        text += "non-temporal stores above " + format_size(thresholds.non_temporal) + ", ";
    }
    return text.empty() ? "always the vector loop" : text + "else the vector loop";
}

CopyThresholds Knobs::with(std::size_t rep, std::size_t past, std::size_t end) const {
    return {rep, !stop && stop_follows ? past : end, past};
}

LibcThresholds Knobs::changes(const CopyThresholds& wanted) const {
    LibcThresholds changed;
    if (wanted.rep_movsb != now.rep_movsb) changed[kRepMovsbThreshold] = wanted.rep_movsb;
    if (stop && wanted.stop != now.stop) changed[kRepMovsbStopThreshold] = wanted.stop;
    if (wanted.non_temporal != now.non_temporal) {
        changed[kNonTemporalThreshold] = wanted.non_temporal;
    }
    return changed;
}

Knobs knobs_of(const std::string& libc, const std::map<std::string, Tunable>& tunables,
               const std::string& why) {
    const auto refuse = [](const std::string& reason) {
        return BadInput("no tunables to choose: " + reason);
    };
    if (libc.rfind("glibc", 0) != 0) throw refuse("libc here is " + libc + ", not glibc");
    if (!why.empty()) throw refuse(why);
    // 2.36 ignores the least value that it lists itself; the next whole line is taken.
    const auto find = [&](const char* name) -> Tunable {
        const auto found = tunables.find(name);
        if (found == tunables.end()) {
            throw refuse(libc + " lists no glibc.cpu." + name +
                         (tunables.empty() ? " (it lists none: that began with 2.33)" : ""));
        }
        return {found->second.value, found->second.least + 64, found->second.most};
    };
    Knobs knobs{{}, find(kRepMovsbThreshold), find(kNonTemporalThreshold)};
    if (tunables.count(kRepMovsbStopThreshold)) knobs.stop = find(kRepMovsbStopThreshold);
    return knobs;
}

CopyThresholds choose_thresholds(const Knobs& knobs, const std::vector<SizeWays>& sizes) {
    const CopyThresholds now = knobs.now;
    CopyThresholds best = now;
    double most = 0, nearest = 0;
    const auto stops =
        knobs.stop ? values_of(*knobs.stop, now.stop, sizes) : std::vector<std::size_t>{now.stop};
    for (const std::size_t rep : values_of(knobs.rep_movsb, now.rep_movsb, sizes)) {
        for (const std::size_t past : values_of(knobs.non_temporal, now.non_temporal, sizes)) {
            for (const std::size_t stop : stops) {
                const CopyThresholds one = knobs.with(rep, past, stop);
                const double worth = sum_of_worths(one, sizes) -
                                     kLeastWorth * static_cast<double>(knobs.changes(one).size());
                const double far = distance(one, now);
                constexpr double kSame = 1e-9; // sums of the same in another order
                if (worth < most - kSame || (worth < most + kSame && far >= nearest)) continue;
                best = one;
                most = worth;
                nearest = far;
            }
        }
    }
    return best;
}

} // namespace asterope
