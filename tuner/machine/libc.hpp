// This libc, and the sizes at which its memcpy changes its method.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// The loader this program was started by, such as /lib64/ld-linux-x86-64.so.2; empty if it is
/// linked statically.
std::string program_interpreter();

/// "glibc 2.36", "musl" or "unknown".
std::string read_libc(const std::string& interpreter);

/// What stands before the names of the tunables.
inline constexpr std::string_view kTunableGroup = "glibc.cpu.";

/// The tunables of memcpy on x86. Old glibcs lack the stop of rep movsb, and memset's threshold,
/// which glibc 2.41 and later have.
inline constexpr const char* kNonTemporalThreshold = "x86_non_temporal_threshold";
inline constexpr const char* kRepMovsbThreshold = "x86_rep_movsb_threshold";
inline constexpr const char* kRepMovsbStopThreshold = "x86_rep_movsb_stop_threshold";
inline constexpr const char* kSetNonTemporalThreshold = "x86_memset_non_temporal_threshold";

/// The thresholds among these that tell machines of this architecture apart. Empty: its memcpy and
/// memset have no threshold to set, and libc is asked for none.
std::vector<std::string> libc_threshold_names();

/// Bytes by the name of a tunable, without "glibc.cpu." before it.
using LibcThresholds = std::map<std::string, std::size_t>;

/// One of glibc's tunables that is a size in bytes.
struct Tunable {
    std::size_t value, least, most;
    bool operator==(const Tunable&) const = default;
};

/// Reads the loader's --list-tunables, a line each: "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min:
/// 0x200, max: 0xffffffffffffffff)". Returns the sizes of glibc.cpu, by their names without that
/// prefix. Other lines are passed over, also those whose numbers cannot be read.
std::map<std::string, Tunable> parse_tunables(const std::string& listing);

/// The same of this libc, as this environment sets them; glibc 2.33 and later list them. Empty
/// where libc lists nothing; `why` says why it could not be asked.
std::map<std::string, Tunable> read_tunables(const std::string& interpreter, std::string& why);

/// The values of libc_threshold_names(), as far as this libc lists them.
LibcThresholds read_libc_thresholds(const std::string& interpreter, std::string& why);

/// The size from which on memcpy no longer uses `rep movsb`. The loader's --list-diagnostics tells
/// it: "x86.cpu_features.rep_movsb_stop_threshold=0x100000". glibc computes it, and 2.36 has no
/// tunable for it. 0: not known.
std::size_t parse_rep_movsb_stop(const std::string& diagnostics);
std::size_t read_rep_movsb_stop(const std::string& interpreter);

} // namespace asterope
