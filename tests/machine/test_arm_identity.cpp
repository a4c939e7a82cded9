// Arm's identification registers are read right: from numbers and files, so on any machine.
#include "machine/arm_identity.hpp"

#include "base/text.hpp"
#include "machine/machine.hpp"
#include "support/unit_test.hpp"

constexpr std::uint64_t kNeoverseN1 = 0x413fd0c1, kCortexA53 = 0x410fd034, kCortexA72 = 0x410fd083;

/// A made-up root with the identification registers of CPUs.
class ArmRoot : public TemporaryFolder {
  protected:
    void put_cpu(int cpu, unsigned long long midr) {
        put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/regs/identification/midr_el1",
            formatted("0x%016llx\n", midr));
    }
};

TEST(DecodeMidr, names_the_parts_that_are_known_and_numbers_the_others) {
    const std::tuple<std::uint64_t, const char*, const char*> cases[] = {
        {kNeoverseN1, "0x41", "Neoverse-N1 r3p1"},
        {0x610f0230, "0x61", "Firestorm-M1 r0p0"},
        {0x461f0010, "0x46", "A64FX r1p0"},
        {0x412fffff, "0x41", "0x41 0xfff r2p15"},
        {0xee0fd0c0, "0xee", "0xee 0xd0c r0p0"}, // another maker's part of that number
        {0, "", "unknown AArch64 CPU"},
    };
    for (const auto& [midr, vendor, brand] : cases) {
        EXPECT_EQ(decode_midr(midr).vendor, vendor);
        EXPECT_EQ(decode_midr(midr).brand, brand);
    }
    EXPECT_EQ(decode_midr(kNeoverseN1).part, 0xd0c);
    EXPECT_EQ(decode_midr(kNeoverseN1).stepping, 0x31);
}

TEST(MidrInCpuinfo, is_made_of_the_fields) {
    const std::string cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                                "CPU variant\t: 0x0\nCPU part\t: 0xd03\nCPU revision\t: 4\n\n"
                                "processor\t: 1\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                                "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";
    EXPECT_EQ(midr_in_cpuinfo(cpuinfo, 0), kCortexA53);
    EXPECT_EQ(midr_in_cpuinfo(cpuinfo, 1), kNeoverseN1);
    EXPECT_EQ(midr_in_cpuinfo(cpuinfo, 2), std::nullopt);
    EXPECT_EQ(midr_in_cpuinfo("processor\t: 0\nvendor_id\t: GenuineIntel\n", 0), std::nullopt);
    EXPECT_EQ(midr_in_cpuinfo("", 0), std::nullopt);
}

TEST_F(ArmRoot, cores_of_two_kinds_are_listed_each_with_its_cpus_but_not_those_of_one) {
    EXPECT_TRUE(arm_cpu_kinds(folder).empty());
    for (int cpu = 0; cpu < 4; ++cpu) put_cpu(cpu, kNeoverseN1);
    EXPECT_TRUE(arm_cpu_kinds(folder).empty());
    for (const int cpu : {0, 1, 2, 3, 10}) put_cpu(cpu, kCortexA53);
    for (const int cpu : {4, 5}) put_cpu(cpu, kCortexA72);
    put("sys/devices/system/cpu/cpu6/online", "0\n"); // which has no registers to show
    put("sys/devices/system/cpu/cpu7/regs/identification/midr_el1", "nonsense\n");
    put("sys/devices/system/cpu/cpufreq/x", "");
    const std::vector<CpuKind> expected = {{"Cortex-A53 r0p4", "0-3,10"},
                                           {"Cortex-A72 r0p3", "4-5"}};
    EXPECT_EQ(arm_cpu_kinds(folder), expected);
}

TEST(ArmFeatures, are_named_as_in_cpuinfo_and_sorted_zva_only_of_64_bytes_where_permitted) {
    const std::uint64_t asimd_atomics_sve = 1u << 1 | 1u << 8 | 1u << 22,
                        dcpodp_sve2_mops = 1u << 0 | 1u << 1 | std::uint64_t{1} << 43;
    const std::vector<std::string> expected = {"asimd", "atomics", "dcpodp", "mops",
                                               "sve",   "sve2",    "sve256", "zva64"};
    EXPECT_EQ(arm_features(asimd_atomics_sve, dcpodp_sve2_mops, 4, 32), expected);
    EXPECT_EQ(arm_features(0, 0, 4, 0), std::vector<std::string>{"zva64"});
    for (const unsigned not_64_or_prohibited : {5, 1 << 4, 1 << 4 | 4}) {
        EXPECT_TRUE(arm_features(0, 0, not_64_or_prohibited, 0).empty());
    }
}

TEST(ArmLineBytes, is_the_smallest_of_the_data_caches) {
    EXPECT_EQ(arm_line_bytes(0x8444c004), 64);
    EXPECT_EQ(arm_line_bytes(0x8445c004), 128);
}

TEST_F(ArmRoot, a_hypervisor_is_named_where_device_tree_or_dmi_know_it) {
    EXPECT_EQ(arm_hypervisor(folder), "");
    put("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    put("sys/class/dmi/id/product_name", "c7g.metal\n");
    EXPECT_EQ(arm_hypervisor(folder), "");
    put("sys/class/dmi/id/product_name", "c7g.xlarge\n");
    EXPECT_EQ(arm_hypervisor(folder), "Amazon EC2");
    put("sys/class/dmi/id/sys_vendor", "A server maker\n");
    EXPECT_EQ(arm_hypervisor(folder), "");
    put("proc/device-tree/hypervisor/compatible", std::string("linux,kvm\0", 10));
    EXPECT_EQ(arm_hypervisor(folder), "linux,kvm");
}

TEST_F(ArmRoot, a_machine_is_described_by_the_kind_of_the_cpu_that_is_tuned) {
    put_cpu(0, kCortexA53);
    put_cpu(1, kCortexA72);
    for (const int cpu : {0, 1}) {
        const std::string cache =
            "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index0/";
        put(cache + "level", "1\n");
        put(cache + "type", "Data\n");
        put(cache + "size", cpu == 0 ? "32K\n" : "48K\n");
    }
    const Machine little = read_machine(folder, 0), big = read_machine(folder, 1);
    if (big.cpu.kinds.empty()) GTEST_SKIP() << "this processor's kinds cannot be told apart";
    EXPECT_EQ(little.cpu.brand, "Cortex-A53 r0p4");
    EXPECT_EQ(big.cpu.brand, "Cortex-A72 r0p3");
    EXPECT_TRUE(big.cpu.hybrid);
    EXPECT_EQ(little.caches.at(0).bytes, 32u << 10);
    EXPECT_EQ(big.caches.at(0).bytes, 48u << 10);
    EXPECT_GT(big.caches.at(0).line_bytes, 0); // the processor's, where sysfs is silent
    EXPECT_NE(to_json(little)["fingerprint"], to_json(big)["fingerprint"]);
}
