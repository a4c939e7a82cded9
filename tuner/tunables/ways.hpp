// The ways in which glibc's memcpy copies, and which of them its thresholds choose for a size.
#pragma once

#include <cstddef>
#include <string>

#include "timing/remote_copy.hpp"

namespace asterope {

/// The two kinds of non-temporal stores take two and four pages side by side.
enum class Way { vector, rep_movsb, non_temporal_2, non_temporal_4 };
inline constexpr Way kWays[] = {Way::vector, Way::rep_movsb, Way::non_temporal_2,
                                Way::non_temporal_4};

/// The name in the JSON: "rep_movsb".
const char* name_of(Way way);
/// The name in tables: "rep movsb".
const char* words_of(Way way);

/// Bytes. Sizes above `rep_movsb` and below `stop` take `rep movsb`. Other sizes above
/// `non_temporal` are stored past the caches: sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S
/// of glibc.
struct CopyThresholds {
    std::size_t rep_movsb, stop, non_temporal;
    bool operator==(const CopyThresholds&) const = default;
};

/// Larger than any copy.
inline constexpr std::size_t kNever = std::size_t{1} << 50;

/// The thresholds that a process says hold there (RemoteCopy::thresholds). Where it knows no stop,
/// that is the non-temporal threshold, as on all processors but AMD's.
CopyThresholds copy_thresholds(const LibcThresholds& thresholds);

Way way_of(const CopyThresholds& thresholds, std::size_t size);

/// "rep movsb above 2112 B and below 1 MiB, non-temporal stores above 288 MiB, else the vector
/// loop".
std::string describe(const CopyThresholds& thresholds);

} // namespace asterope
