// The meaning of Arm CPUs' identification registers and of the kernel's bits about them. The
// functions take numbers and files alone, so that any machine can test them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "machine/cpu.hpp"

namespace asterope {

/// MIDR_EL1, field by field.
struct ArmIdentity {
    /// The implementer's number, "0x41" for Arm, as /proc/cpuinfo has it: the generated routine,
    /// which looks for the nearest of several profiles, compares numbers and knows no names.
    std::string vendor;
    std::string brand; ///< "Neoverse-N1 r3p1"; "0x41 0xd0c r3p1" where the part has no name here
    int part = 0;
    int stepping = 0; ///< variant << 4 | revision: r3p1 is 0x31
};

ArmIdentity decode_midr(std::uint64_t midr);

/// The CPU's MIDR_EL1 as sysfs has it, since Linux 4.8; none where it does not.
std::optional<std::uint64_t> midr_in_sysfs(const std::filesystem::path& root, int cpu);

/// The MIDR_EL1 that the lines of /proc/cpuinfo about this CPU amount to; none where they do not.
std::optional<std::uint64_t> midr_in_cpuinfo(const std::string& cpuinfo, int cpu);

/// The kinds of cores in sysfs, by their first CPU. Empty where all that can be read are alike.
std::vector<CpuKind> arm_cpu_kinds(const std::filesystem::path& root);

/// The features that matter to copying, sorted. Bits of AT_HWCAP and AT_HWCAP2 have their names in
/// `/proc/cpuinfo`. "zva64": DCZID_EL0 says that DC ZVA may be used and sets 64 bytes. "sve256" and
/// its kind stand for vectors of `sve_bytes`, which is 0 without SVE.
std::vector<std::string> arm_features(std::uint64_t hwcap, std::uint64_t hwcap2,
                                      std::uint64_t dczid, int sve_bytes);

/// The bytes of the smallest line of the data caches, as CTR_EL0 has it.
int arm_line_bytes(std::uint64_t ctr);

/// The hypervisor's name as device tree or DMI give it; empty on bare metal, and where neither
/// says. Arm has no instruction that tells.
std::string arm_hypervisor(const std::filesystem::path& root);

} // namespace asterope
