// Reads an x86-64 processor with CPUID and XGETBV.
//
// Bit positions: Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E. /proc/cpuinfo would be
// easier, but kernels older than the processor leave out the features they do not know.
#include "machine/cpu.hpp"

#include <algorithm>
#include <cpuid.h>
#include <cstdint>
#include <cstring>

#include "base/text.hpp"
#include "instructions.h"
#include "machine/libc.hpp"

namespace asterope {

const char* const kArchitecture = "x86_64";
const char* const kFeatureExamples[2] = {"avx512", "avx2"};
const char* const kMeasuredHere = "";

std::vector<std::string> libc_threshold_names() {
    return {kNonTemporalThreshold, kRepMovsbThreshold, kSetNonTemporalThreshold};
}

namespace {

struct Registers {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zero where the processor lacks the leaf: Intel would answer with another leaf's values.
Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
    Registers r;
    const auto highest = static_cast<std::uint32_t>(__get_cpuid_max(leaf & 0x80000000u, nullptr));
    if (leaf > highest) return r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
}

bool bit(std::uint64_t value, int position) {
    return (value >> position) & 1;
}

/// Four characters a register, up to the first NUL, without surrounding blanks.
std::string text_of(std::initializer_list<std::uint32_t> registers) {
    std::string text;
    for (std::uint32_t value : registers) {
        char bytes[4];
        std::memcpy(bytes, &value, sizeof bytes);
        text.append(bytes, sizeof bytes);
    }
    return std::string(trim(std::string_view(text).substr(0, text.find('\0'))));
}

std::string read_brand() {
    const Registers a = cpuid(0x80000002u), b = cpuid(0x80000003u), c = cpuid(0x80000004u);
    return text_of(
        {a.eax, a.ebx, a.ecx, a.edx, b.eax, b.ebx, b.ecx, b.edx, c.eax, c.ebx, c.ecx, c.edx});
}

/// XCR0, the register states that the operating system enabled; 0 if it enabled none.
/// The instruction is spelt out because the intrinsic needs -mxsave.
std::uint64_t enabled_states(bool osxsave) {
    if (!osxsave) return 0;
    std::uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

std::vector<std::string> read_features() {
    const Registers basic = cpuid(1), seven = cpuid(7), extended = cpuid(0x80000001u);
    const Registers extended_8 = cpuid(0x80000008u);
    const Registers seven_1 = seven.eax >= 1 ? cpuid(7, 1) : Registers{};

    // Intel SDM vol. 1, 14.3 and 15.2: AVX needs the states SSE (1) and AVX (2); AVX-512 needs
    // opmask (5), the upper halves of ZMM0-15 (6) and ZMM16-31 (7) besides.
    constexpr std::uint64_t kAvxStates = 0x06, kAvx512States = 0xE6;
    const std::uint64_t states = enabled_states(bit(basic.ecx, 27));
    const bool avx = (states & kAvxStates) == kAvxStates && bit(basic.ecx, 28);
    const bool avx512 = (states & kAvx512States) == kAvx512States && avx && bit(seven.ebx, 16);

    const struct {
        const char* name;
        bool present;
    } known[] = {
        {"3dnowprefetch", bit(extended.ecx, 8)}, // the instruction prefetchw
        {"clzero", bit(extended_8.ebx, 0)},
        {"avx", avx},
        {"avx2", avx && bit(seven.ebx, 5)},
        {"bmi2", bit(seven.ebx, 8)},
        {"avx512bw", avx512 && bit(seven.ebx, 30)},
        {"avx512dq", avx512 && bit(seven.ebx, 17)},
        {"avx512f", avx512},
        {"avx512vl", avx512 && bit(seven.ebx, 31)},
        {"cldemote", bit(seven.ecx, 25)},
        {"clflushopt", bit(seven.ebx, 23)},
        {"clwb", bit(seven.ebx, 24)},
        {"erms", bit(seven.ebx, 9)},
        {"fsrm", bit(seven.edx, 4)},
        {"fsrs", bit(seven_1.eax, 11)},
        {"fzrm", bit(seven_1.eax, 10)},
        {"mmx", bit(basic.edx, 23)},
        {"movdir64b", bit(seven.ecx, 28)},
        {"movdiri", bit(seven.ecx, 27)},
        {"prefetchwt1", bit(seven.ecx, 0)},
        {"rdtscp", bit(extended.edx, 27)},
        {"sse", bit(basic.edx, 25)},
        {"sse2", bit(basic.edx, 26)},
        {"sse4_1", bit(basic.ecx, 19)},
        {"sse4_2", bit(basic.ecx, 20)},
        {"ssse3", bit(basic.ecx, 9)},
    };
    std::vector<std::string> features;
    for (const auto& feature : known)
        if (feature.present) features.push_back(feature.name);
    std::ranges::sort(features);
    return features;
}

/// Leaf 4 and AMD's 0x8000001D share one layout: a subleaf a cache, type 0 ends the list.
std::vector<Cache> read_cache_leaf(std::uint32_t leaf) {
    std::vector<Cache> caches;
    for (std::uint32_t index = 0; index < 16; ++index) {
        const Registers r = cpuid(leaf, index);
        const std::uint32_t type = r.eax & 0x1F;
        if (type == 0) break;
        if (type != 1 && type != 3) continue; // 2 is an instruction cache
        const std::size_t ways = (r.ebx >> 22) + 1;
        const std::size_t partitions = ((r.ebx >> 12) & 0x3FF) + 1;
        const std::size_t line_bytes = (r.ebx & 0xFFF) + 1;
        const std::size_t sets = static_cast<std::size_t>(r.ecx) + 1;
        Cache cache;
        cache.level = (r.eax >> 5) & 7;
        cache.type = type == 1 ? "data" : "unified";
        cache.bytes = ways * partitions * line_bytes * sets;
        cache.line_bytes = static_cast<int>(line_bytes);
        cache.ways = static_cast<int>(ways);
        cache.shared_by = static_cast<int>((r.eax >> 14) & 0xFFF) + 1; // reserved ids: at most
        caches.push_back(cache);
    }
    return caches;
}

} // namespace

Cpu read_cpu(const std::filesystem::path&, int) {
    Cpu cpu;
    const Registers zero = cpuid(0), one = cpuid(1);
    cpu.vendor = text_of({zero.ebx, zero.edx, zero.ecx});
    cpu.brand = read_brand();

    const int family = (one.eax >> 8) & 0xF, model = (one.eax >> 4) & 0xF;
    const int extended_family = (one.eax >> 20) & 0xFF, extended_model = (one.eax >> 16) & 0xF;
    cpu.family = family == 0xF ? family + extended_family : family;
    cpu.model = family == 0x6 || family == 0xF ? model + (extended_model << 4) : model;
    cpu.stepping = one.eax & 0xF;

    cpu.features = read_features();
    cpu.invariant_tsc = bit(cpuid(0x80000007u).edx, 8) && !counter_forbidden();
    cpu.hybrid = cpu.vendor == "GenuineIntel" && bit(cpuid(7).edx, 15);
    if (bit(one.ecx, 31)) {
        // The leaf is read directly: the range of hypervisor leaves has its own maximum, and some
        // hypervisors report 0 for it.
        Registers r;
        __cpuid(0x40000000u, r.eax, r.ebx, r.ecx, r.edx);
        cpu.hypervisor = text_of({r.ebx, r.ecx, r.edx});
    }
    return cpu;
}

std::vector<Cache> read_cpu_caches() {
    const bool topology_extensions = bit(cpuid(0x80000001u).ecx, 22); // AMD and Hygon only
    return read_cache_leaf(topology_extensions ? 0x8000001Du : 4u);
}

int read_line_bytes() {
    return 0; // sysfs has it
}

std::string why_counter_is_unfit() {
    if (!bit(cpuid(0x80000007u).edx, 8)) return "the counter is not said to tick evenly";
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t before = counter_now();
        least = std::min(least, counter_now() - before);
    }
    if (least < 1000) return {};
    return "reading the counter takes 1000 ticks and more: it is trapped";
}

std::uint64_t counter_now() {
    return ticks_in_order();
}

void relax() {
    __asm__ volatile("pause");
}

void clean_vector_state() {
    static const bool has_avx = has_feature(read_cpu(), "avx");
    if (has_avx) __asm__ volatile("vzeroupper" ::: "memory");
}

int widest_load() {
    return has_feature(read_cpu(), "avx") ? 32 : 16;
}

std::size_t zero_after_load(const char* at, int bytes) {
    std::size_t value;
    switch (bytes) {
    case 1:
        __asm__ volatile("movzbl (%1), %k0" : "=r"(value) : "r"(at) : "memory");
        break;
    case 8:
        __asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(at) : "memory");
        break;
    case 16:
        __asm__ volatile("movdqu (%1), %%xmm0\n\tmovq %%xmm0, %0"
                         : "=r"(value)
                         : "r"(at)
                         : "memory", "xmm0");
        break;
    default:
        __asm__ volatile("vmovdqu (%1), %%ymm0\n\tvmovq %%xmm0, %0\n\tvzeroupper"
                         : "=r"(value)
                         : "r"(at)
                         : "memory", "xmm0");
    }
    // a result that waits for the value; exclusive-or with itself would not
    __asm__ volatile("andq $0, %0" : "+r"(value) : : "cc");
    return value;
}

} // namespace asterope
