// Reads an AArch64 processor: its identification registers where the kernel lets programs read
// them, else the kernel's account of them.
#include "machine/cpu.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <vector>

#include "instructions.h"
#include "machine/arm_identity.hpp"
#include "machine/libc.hpp"
#include "machine/system_text.hpp"

namespace asterope {

const char* const kArchitecture = "aarch64";
const char* const kFeatureExamples[2] = {"sve", "mops"};
const char* const kMeasuredHere =
    "aarch64: checked in emulation alone; this project has measured no speed on such a processor";

std::vector<std::string> libc_threshold_names() {
    return {}; // glibc chooses a memcpy by the CPU's name, and none has a threshold to set
}

namespace {

// Linux, arch/arm64/include/uapi/asm/hwcap.h: the kernel answers reads of the identification
// registers (Documentation/arch/arm64/cpu-feature-registers.rst).
constexpr std::uint64_t kHwcapCpuid = 1u << 11, kHwcapSve = 1u << 22;

std::uint64_t midr_here() {
    std::uint64_t midr;
    __asm__ volatile("mrs %0, midr_el1" : "=r"(midr));
    return midr;
}

/// The identification of `cpu`, or of this thread's CPU where `cpu` is negative or has no file.
std::uint64_t midr_of(const std::filesystem::path& root, int cpu) {
    if (cpu >= 0)
        if (const auto midr = midr_in_sysfs(root, cpu)) return *midr;
    if (getauxval(AT_HWCAP) & kHwcapCpuid) return midr_here();
    const int here = std::max(0, cpu >= 0 ? cpu : sched_getcpu());
    if (const auto midr = midr_in_sysfs(root, here)) return *midr;
    return midr_in_cpuinfo(read_text(root / "proc/cpuinfo"), here).value_or(0);
}

int sve_bytes() {
    if (!(getauxval(AT_HWCAP) & kHwcapSve)) return 0;
    const int answer = prctl(PR_SVE_GET_VL);
    return answer < 0 ? 0 : answer & PR_SVE_VL_LEN_MASK;
}

/// By how many the counter moves at once. One that is said to run at 1 GHz may be a slower one's
/// multiple. Readings that follow each other closely either meet the same value now and then, and
/// the least other difference is the step; or never do, and the step divides all differences.
std::uint64_t counter_step() {
    std::uint64_t least = ~std::uint64_t{0}, divisor = 0, last = ticks_now();
    bool met_twice = false;
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t now = ticks_now(), difference = now - last;
        last = now;
        if (difference == 0) {
            met_twice = true;
        } else {
            least = std::min(least, difference);
            divisor = std::gcd(divisor, difference);
        }
    }
    return met_twice ? least : divisor;
}

/// The duration of a reading: the best of several tries, as an interruption only ever adds to it.
double reading_nanoseconds() {
    constexpr int kReadings = 100;
    double best = 1e9;
    for (int repetition = 0; repetition < 5; ++repetition) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < kReadings; ++i) counter_now();
        const std::chrono::duration<double, std::nano> taken =
            std::chrono::steady_clock::now() - begin;
        best = std::min(best, taken.count() / kReadings);
    }
    return best;
}

} // namespace

Cpu read_cpu(const std::filesystem::path& root, int cpu) {
    const ArmIdentity identity = decode_midr(midr_of(root, cpu));
    Cpu result;
    result.vendor = identity.vendor;
    result.brand = identity.brand;
    result.family = 8; // "CPU architecture" of /proc/cpuinfo, which says 8 of each that is 64-bit
    result.model = identity.part;
    result.stepping = identity.stepping;
    std::uint64_t dczid;
    __asm__("mrs %0, dczid_el0" : "=r"(dczid));
    result.features = arm_features(getauxval(AT_HWCAP), getauxval(AT_HWCAP2), dczid, sve_bytes());
    // The generic timer's rate is fixed, in every power state (Arm ARM, D11.1).
    result.invariant_tsc = !counter_forbidden();
    result.hypervisor = arm_hypervisor(root);
    result.kinds = arm_cpu_kinds(root);
    result.hybrid = result.kinds.size() > 1;
    return result;
}

std::vector<Cache> read_cpu_caches() {
    return {}; // only the kernel may read CCSIDR_EL1, which has their sizes
}

int read_line_bytes() {
    std::uint64_t ctr;
    __asm__("mrs %0, ctr_el0" : "=r"(ctr));
    return arm_line_bytes(ctr);
}

std::string why_counter_is_unfit() {
    std::uint64_t rate;
    __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
    if (rate == 0) return "the rate of the counter is not known (CNTFRQ_EL0 is 0)";
    // A probe tells a load from a near cache and one from afar apart by tens of ns.
    constexpr double kMostStep = 4, kMostReading = 300;
    const double step = 1e9 * static_cast<double>(counter_step()) / static_cast<double>(rate);
    if (step > kMostStep) {
        return formatted("the counter moves in steps of %.0f ns, and probes need %.0f", step,
                         kMostStep);
    }
    if (reading_nanoseconds() < kMostReading) return {};
    return formatted("reading the counter takes %.0f ns and more: it is trapped", kMostReading);
}

std::uint64_t counter_now() {
    return ticks_in_order();
}

void relax() {
    __asm__ volatile("isb"); // most take `yield` for nothing: templates/aarch64/counter.j2
}

void clean_vector_state() {} // no instruction depends on what another one left in the upper halves

int widest_load() {
    return 32; // ldp of two 128-bit registers
}

std::size_t zero_after_load(const char* at, int bytes) {
    std::size_t value;
    switch (bytes) {
    case 1:
        __asm__ volatile("ldrb %w0, [%1]" : "=r"(value) : "r"(at) : "memory");
        break;
    case 8:
        __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(at) : "memory");
        break;
    case 16:
        __asm__ volatile("ldr q0, [%1]\n\tfmov %0, d0" : "=r"(value) : "r"(at) : "memory", "v0");
        break;
    default:
        __asm__ volatile("ldp q0, q1, [%1]\n\tfmov %0, d0"
                         : "=r"(value)
                         : "r"(at)
                         : "memory", "v0", "v1");
    }
    // A result that waits for the value: the architecture keeps such dependencies (Arm ARM, B2.3),
    // though the result is always 0.
    __asm__ volatile("and %0, %0, xzr" : "+r"(value));
    return value;
}

} // namespace asterope
