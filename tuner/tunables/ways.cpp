// The ways' names, and glibc's rule in three comparisons.
#include "tunables/ways.hpp"

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "machine/libc.hpp"

namespace asterope {

namespace {

/// From so many times the non-temporal threshold on it takes four pages side by side instead of
/// two: LOG_4X_MEMCPY_THRESH in glibc's source.
constexpr std::size_t kFourPagesFrom = 16;

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

} // namespace asterope
