// The facts about a processor that the tuner needs. Each architecture answers in a folder of its
// own (x86_64/cpu.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// Cores of one kind, of a machine that has several.
struct CpuKind {
    std::string brand; ///< as Cpu::brand
    std::string cpus;  ///< "0-3,6"

    bool operator==(const CpuKind&) const = default;
};

/// The processor as it describes itself, not as the operating system retells it.
struct Cpu {
    std::string vendor;
    std::string brand;
    int family = 0; ///< as in /proc/cpuinfo: on x86 the display family, the extended bits folded in
    int model = 0;  ///< the display model, likewise; on AArch64 the part number
    int stepping = 0;
    /// The features that matter to copying and can be used, sorted. Named as in /proc/cpuinfo, so
    /// prefetchw is `3dnowprefetch`. Vector extensions are here only if the operating system saves
    /// their registers.
    std::vector<std::string> features;
    bool invariant_tsc = false; ///< The cycle counter ticks evenly in every power state.
    std::string hypervisor;     ///< Its signature, empty on bare metal.
    bool hybrid = false;        ///< One package has cores of different kinds.
    /// The kinds, where they can be told apart; else empty. The facts above hold for one of them.
    std::vector<CpuKind> kinds;
};

/// One cache that holds data, as the first CPU sees it.
struct Cache {
    int level = 0;
    std::string type; ///< "data" or "unified"
    std::size_t bytes = 0;
    int line_bytes = 0;
    int ways = 0;      ///< 0 if not known
    int shared_by = 0; ///< logical CPUs; 0 if not known
};

/// The name profiles and template folders use, such as "x86_64".
extern const char* const kArchitecture;

/// Features that matter to copies, for texts about options: the first begins the names of others.
extern const char* const kFeatureExamples[2];

/// The sentence of --version that this project has not measured speeds on such processors; else
/// empty.
extern const char* const kMeasuredHere;

/// Where kinds of cores can be told apart: the kind of `cpu`, or of the CPU that this thread runs
/// on where it is negative. `root`: where /proc and /sys are looked for.
Cpu read_cpu(const std::filesystem::path& root = "/", int cpu = -1);

/// The caches as the processor lists them; empty if it lists none. Virtual machines often get
/// shared_by wrong here, so the operating system's list goes first.
std::vector<Cache> read_cpu_caches();

/// The bytes of a line of the caches, for where the operating system lists caches without it. 0:
/// not known.
int read_line_bytes();

bool has_feature(const Cpu& cpu, std::string_view name);

/// Whether reading the cycle counter would kill this process (PR_SET_TSC; on AArch64 since Linux
/// 6.12).
bool counter_forbidden();

/// The cycle counter: everything before the call has finished, nothing after it has begun.
std::uint64_t counter_now();

/// Why a copy cannot read the cycle counter to sense where its data is, in a few words; empty where
/// it can. The counter must exist, tick evenly, and have steps that tell near loads from far
/// ones. A reading must be cheap: neither forbidden (PR_SET_TSC) nor trapped by a hypervisor, which
/// takes a thousand ticks and more.
std::string why_no_sensing();

/// The reasons among these that lie in the architecture. Reads the counter, which must not be
/// forbidden.
std::string why_counter_is_unfit();

/// Call this in each turn of a loop that waits for another CPU. It leaves more of the core to the
/// thread that shares it, which may be the awaited one.
void relax();

/// Puts the vector registers into the state that a caller may expect: on x86, upper halves that an
/// earlier copy left dirty would slow down the copies timed after it.
void clean_vector_state();

/// The most bytes that one instruction of this CPU loads, as far as zero_after_load knows.
int widest_load();

/// Loads `bytes` (1, 8, 16 or 32, at most widest_load()) in one instruction and returns 0, but not
/// before the load is done: for code that must wait for it.
std::size_t zero_after_load(const char* at, int bytes);

} // namespace asterope
