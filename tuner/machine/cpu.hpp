// What the tuner must know of a processor; each architecture answers in one file of its own
// (cpu_x86_64.cpp here).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// The processor as it describes itself, not as the operating system retells it.
struct Cpu {
    std::string vendor;
    std::string brand;
    int family = 0; ///< display family: the extended bits folded in, as in /proc/cpuinfo
    int model = 0;  ///< display model, likewise
    int stepping = 0;
    /// What matters to copying and can be used, sorted. Named as in /proc/cpuinfo, so prefetchw is
    /// `3dnowprefetch`. Vector extensions are here only if the operating system saves their
    /// registers.
    std::vector<std::string> features;
    bool invariant_tsc = false; ///< the cycle counter ticks evenly in every power state
    std::string hypervisor;     ///< its signature, empty on bare metal
    bool hybrid = false;        ///< cores of different kinds in one package
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

Cpu read_cpu();

/// The caches as the processor lists them; empty if it lists none. Virtual machines often get
/// shared_by wrong here, so the operating system's list goes first.
std::vector<Cache> read_cpu_caches();

bool has_feature(const Cpu& cpu, std::string_view name);

/// The cycle counter: everything before the call has finished, nothing after it has begun.
std::uint64_t counter_now();

/// Whether a copy may read the cycle counter to sense where its data is: it is there, ticks evenly,
/// and a reading is cheap: neither forbidden (PR_SET_TSC) nor trapped by a hypervisor, which takes
/// a thousand ticks and more.
bool counter_serves_copies();

/// For each turn of a loop that waits for another CPU: leaves more of the core to whom it shares it
/// with, which may be the one that is waited for.
void relax();

/// Puts the vector registers into the state that a caller may expect: on x86, upper halves that an
/// earlier copy left dirty would slow down the copies timed after it.
void clean_vector_state();

/// Loads `bytes` (1, 8, 16, or 32 where the CPU has AVX) in one instruction and returns 0, but not
/// before the load is done: for what must wait for it.
std::size_t zero_after_load(const char* at, int bytes);

} // namespace asterope
