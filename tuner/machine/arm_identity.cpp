// The tables of parts and features, and their decoding.
//
// Registers: Arm Architecture Reference Manual for A-profile (DDI 0487), D17 (MIDR_EL1, CTR_EL0,
// DCZID_EL0). Parts: the makers' technical reference manuals, as Linux
// (arch/arm64/include/asm/cputype.h) and util-linux (sys-utils/lscpu-arm.c) list them.
#include "machine/arm_identity.hpp"

#include <algorithm>

#include "base/contains.hpp"
#include "machine/system_text.hpp"

namespace asterope {

namespace fs = std::filesystem;

namespace {

struct PartName {
    int implementer, number;
    const char* name;
};

// Broadcom's ThunderX2 is that of before it was Cavium's, TaiShan-v110 is in the Kunpeng 920.
constexpr PartName kParts[] = {
    {0x41, 0xd02, "Cortex-A34"},       {0x41, 0xd03, "Cortex-A53"},
    {0x41, 0xd04, "Cortex-A35"},       {0x41, 0xd05, "Cortex-A55"},
    {0x41, 0xd06, "Cortex-A65"},       {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},       {0x41, 0xd09, "Cortex-A73"},
    {0x41, 0xd0a, "Cortex-A75"},       {0x41, 0xd0b, "Cortex-A76"},
    {0x41, 0xd0c, "Neoverse-N1"},      {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd0e, "Cortex-A76AE"},     {0x41, 0xd40, "Neoverse-V1"},
    {0x41, 0xd41, "Cortex-A78"},       {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd43, "Cortex-A65AE"},     {0x41, 0xd44, "Cortex-X1"},
    {0x41, 0xd46, "Cortex-A510"},      {0x41, 0xd47, "Cortex-A710"},
    {0x41, 0xd48, "Cortex-X2"},        {0x41, 0xd49, "Neoverse-N2"},
    {0x41, 0xd4a, "Neoverse-E1"},      {0x41, 0xd4b, "Cortex-A78C"},
    {0x41, 0xd4c, "Cortex-X1C"},       {0x41, 0xd4d, "Cortex-A715"},
    {0x41, 0xd4e, "Cortex-X3"},        {0x41, 0xd4f, "Neoverse-V2"},
    {0x41, 0xd80, "Cortex-A520"},      {0x41, 0xd81, "Cortex-A720"},
    {0x41, 0xd82, "Cortex-X4"},        {0x41, 0xd83, "Neoverse-V3AE"},
    {0x41, 0xd84, "Neoverse-V3"},      {0x41, 0xd85, "Cortex-X925"},
    {0x41, 0xd87, "Cortex-A725"},      {0x41, 0xd8e, "Neoverse-N3"},
    {0x42, 0x516, "ThunderX2"},        {0x43, 0x0a0, "ThunderX"},
    {0x43, 0x0a1, "ThunderX-88XX"},    {0x43, 0x0a2, "ThunderX-81XX"},
    {0x43, 0x0a3, "ThunderX-83XX"},    {0x43, 0x0af, "ThunderX2"},
    {0x43, 0x0b0, "OcteonTX2"},        {0x46, 0x001, "A64FX"},
    {0x46, 0x003, "MONAKA"},           {0x48, 0xd01, "TaiShan-v110"},
    {0x48, 0xd02, "TaiShan-v120"},     {0x4e, 0x000, "Denver"},
    {0x4e, 0x003, "Denver-2"},         {0x4e, 0x004, "Carmel"},
    {0x50, 0x000, "X-Gene"},           {0x51, 0x001, "Oryon"},
    {0x51, 0x800, "Kryo-2XX-Gold"},    {0x51, 0x801, "Kryo-2XX-Silver"},
    {0x51, 0x802, "Kryo-3XX-Gold"},    {0x51, 0x803, "Kryo-3XX-Silver"},
    {0x51, 0x804, "Kryo-4XX-Gold"},    {0x51, 0x805, "Kryo-4XX-Silver"},
    {0x51, 0xc00, "Falkor"},           {0x51, 0xc01, "Saphira"},
    {0x61, 0x022, "Icestorm-M1"},      {0x61, 0x023, "Firestorm-M1"},
    {0x61, 0x024, "Icestorm-M1-Pro"},  {0x61, 0x025, "Firestorm-M1-Pro"},
    {0x61, 0x028, "Icestorm-M1-Max"},  {0x61, 0x029, "Firestorm-M1-Max"},
    {0x61, 0x032, "Blizzard-M2"},      {0x61, 0x033, "Avalanche-M2"},
    {0x61, 0x034, "Blizzard-M2-Pro"},  {0x61, 0x035, "Avalanche-M2-Pro"},
    {0x61, 0x038, "Blizzard-M2-Max"},  {0x61, 0x039, "Avalanche-M2-Max"},
    {0x6d, 0xd49, "Azure-Cobalt-100"}, {0x70, 0x660, "FTC660"},
    {0x70, 0x661, "FTC661"},           {0x70, 0x662, "FTC662"},
    {0x70, 0x663, "FTC663"},           {0x70, 0x664, "FTC664"},
    {0x70, 0x862, "FTC862"},           {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1a"},
};

std::string hexadecimal(int number, int digits) {
    return formatted("0x%0*x", digits, static_cast<unsigned>(number));
}

constexpr const char* kCpus = "sys/devices/system/cpu";

/// The lines of /proc/cpuinfo about one CPU, from its "processor" line on.
std::string paragraph_of(const std::string& cpuinfo, int cpu) {
    std::string paragraph;
    bool inside = false;
    for (const std::string& line : lines_of(cpuinfo)) {
        if (line.starts_with("processor"))
            inside = value_of(line, "processor") == std::to_string(cpu);
        if (inside) paragraph += line + '\n';
    }
    return paragraph;
}

/// "0x41" or "8".
std::optional<std::uint64_t> hex_or_decimal(const std::string& text) {
    return text.starts_with("0x") ? hex_number(text) : number(text);
}

/// CPUs in ascending order as sysfs lists them: "0-3,6".
std::string cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
        if (last > i) text += '-' + std::to_string(cpus[last]);
        i = last;
    }
    return text;
}

} // namespace

ArmIdentity decode_midr(std::uint64_t midr) {
    const int implementer = static_cast<int>(midr >> 24 & 0xFF);
    const int variant = static_cast<int>(midr >> 20 & 0xF);
    const int revision = static_cast<int>(midr & 0xF);
    ArmIdentity identity;
    if (midr == 0) { // nothing tells
        identity.brand = "unknown AArch64 CPU";
        return identity;
    }
    identity.part = static_cast<int>(midr >> 4 & 0xFFF);
    identity.stepping = variant << 4 | revision;
    identity.vendor = hexadecimal(implementer, 2);
    identity.brand = identity.vendor + ' ' + hexadecimal(identity.part, 3);
    for (const PartName& one : kParts)
        if (one.implementer == implementer && one.number == identity.part)
            identity.brand = one.name;
    identity.brand += " r" + std::to_string(variant) + 'p' + std::to_string(revision);
    return identity;
}

std::optional<std::uint64_t> midr_in_sysfs(const fs::path& root, int cpu) {
    return hex_number(
        read_word(root / kCpus / ("cpu" + std::to_string(cpu)) / "regs/identification/midr_el1"));
}

std::optional<std::uint64_t> midr_in_cpuinfo(const std::string& cpuinfo, int cpu) {
    const std::string lines = paragraph_of(cpuinfo, cpu);
    const auto field = [&](const char* key) { return hex_or_decimal(value_of(lines, key)); };
    const auto implementer = field("CPU implementer"), variant = field("CPU variant"),
               part = field("CPU part"), revision = field("CPU revision");
    if (!implementer || !variant || !part || !revision) return std::nullopt;
    constexpr std::uint64_t kByFeatures = 0xF; // the architecture: other registers describe it
    return (*implementer & 0xFF) << 24 | (*variant & 0xF) << 20 | kByFeatures << 16 |
           (*part & 0xFFF) << 4 | (*revision & 0xF);
}

std::vector<CpuKind> arm_cpu_kinds(const fs::path& root) {
    std::vector<int> cpus;
    for (const std::string& name : entries_of(root / kCpus)) {
        if (name.size() < 4 || !name.starts_with("cpu") ||
            name.find_first_not_of("0123456789", 3) != std::string::npos)
            continue;
        cpus.push_back(small_number(name.substr(3)));
    }
    std::ranges::sort(cpus);
    std::vector<std::pair<std::uint64_t, std::vector<int>>> cpus_of;
    for (const int cpu : cpus) {
        const auto midr = midr_in_sysfs(root, cpu);
        if (midr) entry_in(cpus_of, *midr).push_back(cpu); // others are offline
    }
    std::vector<CpuKind> kinds;
    if (cpus_of.size() < 2) return kinds;
    for (const auto& [midr, own] : cpus_of)
        kinds.push_back({decode_midr(midr).brand, cpu_list(own)});
    return kinds;
}

std::vector<std::string> arm_features(std::uint64_t hwcap, std::uint64_t hwcap2,
                                      std::uint64_t dczid, int sve_bytes) {
    // The bits stand as numbers, as older headers lack the newer names. Linux never changes the
    // numbers in arch/arm64/include/uapi/asm/hwcap.h.
    const struct {
        const char* name;
        std::uint64_t word;
        int bit;
    } known[] = {
        {"asimd", hwcap, 1},    {"atomics", hwcap, 8}, {"lrcpc", hwcap, 15},
        {"dcpop", hwcap, 16},   {"sve", hwcap, 22},    {"uscat", hwcap, 25},
        {"ilrcpc", hwcap, 26},  {"sb", hwcap, 29},     {"dcpodp", hwcap2, 0},
        {"sve2", hwcap2, 1},    {"mops", hwcap2, 43},  {"lrcpc3", hwcap2, 46},
        {"lse128", hwcap2, 47},
    };
    std::vector<std::string> features;
    for (const auto& feature : known)
        if (feature.word >> feature.bit & 1) features.push_back(feature.name);
    const bool prohibited = dczid >> 4 & 1;
    const std::uint64_t block_bytes = 4u << (dczid & 0xF);
    if (!prohibited && block_bytes == 64) features.push_back("zva64");
    if (sve_bytes > 0) features.push_back("sve" + std::to_string(8 * sve_bytes));
    std::ranges::sort(features);
    return features;
}

int arm_line_bytes(std::uint64_t ctr) {
    return 4 << (ctr >> 16 & 0xF); // DminLine: the logarithm of its words
}

std::string arm_hypervisor(const fs::path& root) {
    // "linux,kvm", "xen,xen-4.17": several texts, each of which ends with a NUL.
    const std::string told = read_text(root / "proc/device-tree/hypervisor/compatible");
    if (!told.empty()) return std::string(trim(told.substr(0, told.find('\0'))));
    const fs::path dmi = root / "sys/class/dmi/id";
    const std::string vendor = read_word(dmi / "sys_vendor"),
                      product = read_word(dmi / "product_name");
    if (vendor == "Amazon EC2" && product.find(".metal") != std::string::npos) return {};
    if (vendor == "Microsoft Corporation" && product != "Virtual Machine") return {};
    if (vendor == "Google" && product != "Google Compute Engine") return {};
    for (const char* known : {"QEMU", "KVM", "Amazon EC2", "Google", "Microsoft Corporation",
                              "OpenStack", "Apple Virtualization", "VMware"})
        if (vendor.starts_with(known)) return vendor;
    return {};
}

} // namespace asterope
