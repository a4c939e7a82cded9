// A made-up machine, and a search in the text that describes one.
#pragma once

#include <regex>

#include "machine/machine.hpp"
#include "support/unit_test.hpp"

namespace asterope {

inline Machine example() {
    Machine machine;
    machine.cpu.vendor = "GenuineIntel";
    machine.cpu.brand = "Intel(R) Xeon(R) Gold 5218 CPU @ 2.30GHz";
    machine.cpu.family = 6;
    machine.cpu.model = 85;
    machine.cpu.stepping = 7;
    machine.cpu.features = {"avx", "avx2", "erms", "sse2"};
    machine.cpu.invariant_tsc = true;
    machine.cpu.hypervisor = "KVMKVMKVM";
    machine.microcode = "0x5003303";
    machine.caches = {{1, "data", 32768, 64, 8, 2}, {2, "unified", 1048576, 64, 16, 2}};
    machine.cpus = 32;
    machine.memory_bytes = 64 * kGiB;
    machine.usable_bytes = 60 * kGiB;
    machine.page_bytes = 4096;
    machine.huge_pages = "madvise";
    machine.kernel = "Linux 6.1.0";
    machine.libc = "glibc 2.36";
    machine.libc_thresholds = {{"x86_non_temporal_threshold", 0xf000000},
                               {"x86_rep_movsb_threshold", 0x840}};
    machine.governor = "performance";
    return machine;
}

inline void expect_every_string_harmless(const nlohmann::json& value) {
    static const std::regex harmless("^[A-Za-z0-9 ()@.,:_+/-]*$");
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        EXPECT_TRUE(std::regex_match(text, harmless)) << text;
        EXPECT_LE(text.size(), 200u);
    } else if (value.is_structured()) {
        for (const auto& item : value.items()) {
            expect_every_string_harmless(item.key());
            expect_every_string_harmless(item.value());
        }
    }
}

} // namespace asterope
