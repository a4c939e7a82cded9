// The machine's description: made-up /proc and /sys trees, hostile strings, and this very machine.
#include "machine/machine.hpp"

#include <iterator>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "machine/arm_identity.hpp"
#include "machine/example_machine.hpp"
#include "machine/libc.hpp"

const bool kOnArm = kArchitecture == std::string_view("aarch64");

class FakeRoot : public TemporaryFolder {
  protected:
    void begin_anew(const std::vector<std::pair<std::string, std::string>>& files) {
        TearDown();
        SetUp();
        for (const auto& [path, text] : files) put(path, text);
    }
};

TEST_F(FakeRoot, CgroupsAndTheLimitOfResidentMemoryBoundTheUsableMemory) {
    const std::string gib = std::to_string(kGiB), two = std::to_string(2 * kGiB),
                      three = std::to_string(3 * kGiB), cgroup = "proc/self/cgroup",
                      v2 = "sys/fs/cgroup/", v1 = "sys/fs/cgroup/memory/";
    const struct {
        const char* what;
        std::size_t usable;
        std::vector<std::pair<std::string, std::string>> files;
    } cases[] = {
        {"a limit of version 2 leaves what is not used",
         kGiB,
         {{cgroup, "0::/app.slice/tuner.scope\n"},
          {v2 + "app.slice/tuner.scope/memory.max", two + "\n"},
          {v2 + "app.slice/tuner.scope/memory.current", gib + "\n"}}},
        {"inactive cached files are free",
         kGiB / 2,
         {{cgroup, "0::/job\n"},
          {v2 + "job/memory.max", two},
          {v2 + "job/memory.current", two},
          {v2 + "job/memory.stat",
           "anon 5\ninactive_file " + std::to_string(kGiB / 2) + "\nactive_file 7\n"}}},
        {"the limit of an ancestor binds",
         3 * kGiB,
         {{cgroup, "0::/outer/inner\n"},
          {v2 + "outer/memory.max", three},
          {v2 + "outer/memory.current", "0\n"},
          {v2 + "outer/inner/memory.max", "max\n"},
          {v2 + "outer/inner/memory.current", "0\n"}}},
        {"max does not limit",
         5 * kGiB,
         {{cgroup, "0::/\n"}, {v2 + "memory.max", "max\n"}, {v2 + "memory.current", gib}}},
        {"a limit of version 1 leaves what is not used",
         kGiB - 200 * kMiB,
         {{cgroup, "9:name=systemd:/\n4:cpuacct,memory:/jobs/7\n0::/\n"},
          {v1 + "jobs/7/memory.limit_in_bytes", gib},
          {v1 + "jobs/7/memory.usage_in_bytes", std::to_string(300 * kMiB)},
          {v1 + "jobs/7/memory.stat",
           "inactive_file 1\ntotal_inactive_file " + std::to_string(100 * kMiB) + "\n"},
          {v1 + "memory.limit_in_bytes", "9223372036854771712\n"}}},
        {"a folder out of sight falls back to the root folder",
         kGiB,
         {{cgroup, "4:memory:/docker/0123abcd\n"},
          {v1 + "memory.limit_in_bytes", gib},
          {v1 + "memory.usage_in_bytes", "0"}}},
        {"a limit counts without proc/self/cgroup", kGiB, {{v2 + "memory.max", gib}}},
        {"use beyond the limit leaves nothing",
         0,
         {{v2 + "memory.max", gib}, {v2 + "memory.current", std::to_string(kGiB + 4096)}}},
        {"a path does not climb out of the tree",
         5 * kGiB,
         {{cgroup, "0::/../../other\n"},
          {"sys/other/memory.max", "4096\n"},
          {"sys/fs/other/memory.max", "4096\n"}}},
    };
    rlimit limit;
    getrlimit(RLIMIT_RSS, &limit);
    for (const rlim_t most : {limit.rlim_max, rlim_t{4096}}) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_RSS, &limit);
        for (const auto& one : cases) {
            begin_anew(one.files);
            put("proc/meminfo",
                "MemTotal:       " + std::to_string(8 * kMiB) +
                    " kB\nMemFree:  1 kB\nMemAvailable:   " + std::to_string(5 * kMiB) + " kB\n");
            EXPECT_EQ(read_machine(folder).usable_bytes, std::min(rlim_t{one.usable}, most))
                << one.what;
        }
    }
}

TEST_F(FakeRoot, TheLimitsOfAddressesAndDataBoundTheUsableMemory) {
    constexpr std::size_t kMuch = std::size_t{1} << 53; // more than this test can take itself
    put("proc/meminfo", "MemTotal: " + std::to_string(kMuch / 1024) + " kB\n");
    rlimit resident;
    getrlimit(RLIMIT_RSS, &resident);
    resident.rlim_cur = resident.rlim_max;
    setrlimit(RLIMIT_RSS, &resident);
    const std::size_t without = read_machine(folder).usable_bytes;
    if (without < kMuch / 2) GTEST_SKIP() << "the resident memory is limited for good";
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit;
        getrlimit(resource, &limit);
        const rlim_t before = std::exchange(limit.rlim_cur, kMuch / 4);
        ASSERT_EQ(setrlimit(resource, &limit), 0);
        getrlimit(resource, &limit);
        if (limit.rlim_cur == before) GTEST_SKIP() << "QEMU takes these limits and sets none";
        EXPECT_EQ(read_machine(folder).usable_bytes, kMuch / 4);
        limit.rlim_cur = before;
        ASSERT_EQ(setrlimit(resource, &limit), 0);
    }
    EXPECT_EQ(read_machine(folder).usable_bytes, without);
}

TEST_F(FakeRoot, CachesComeFromSysfsWithoutInstructionCachesAndGarbage) {
    const std::array files = {
        "level", "type", "size", "ways_of_associativity", "shared_cpu_list", "coherency_line_size"};
    const std::array<std::string, files.size()> caches[] = {
        {"1", "Data", "32K", "8", "0,16", "64"},
        {"3", "Unified", "32768K", "16", "0-7,16-23", "64"},
        {"1", "Instruction", "64K", "8", "0,16", "64"},
        {"2", "Unified", "1M", "16", "0", "64"},
        {"2", "Unified", "lots", "16", "0", "64"},
        {"3", "Unified", "", "16", "0", "64"},
        {"none", "Unified", "32K", "16", "0", "64"},
        {"4", "Unified", "99999999999999999999K", "16", "0", "64"}};
    for (std::size_t i = 0; i < std::size(caches); ++i) {
        const std::string place = "sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
        for (std::size_t file = 0; file < files.size(); ++file) {
            put(place + '/' + files[file], caches[i][file] + '\n');
        }
    }
    Machine expected;
    expected.caches = {{1, "data", 32768, 64, 8, 2},
                       {2, "unified", kMiB, 64, 16, 1},
                       {3, "unified", 32 * kMiB, 64, 16, 16}};
    EXPECT_EQ(to_json(read_machine(folder))["caches"], to_json(expected)["caches"]);
}

TEST_F(FakeRoot, PlainValuesAreRead) {
    put("proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xd0003a5\nflags\t\t: fpu\n");
    put("sys/devices/system/cpu/online", "0-3,8\n");
    put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    const Machine machine = read_machine(folder);
    EXPECT_EQ(machine.microcode, "0xd0003a5");
    EXPECT_EQ(machine.cpus, 5);
    EXPECT_EQ(machine.huge_pages, "madvise");
    EXPECT_EQ(machine.governor, "powersave");
    EXPECT_EQ(machine.kernel.rfind("Linux ", 0), 0u);
    EXPECT_EQ(machine.page_bytes, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

TEST_F(FakeRoot, HugePagesOfOtherSizesAreNamedWithTheirModes) {
    EXPECT_EQ(read_machine(folder).smaller_huge_pages, "never");
    const std::string all = "sys/kernel/mm/transparent_hugepage/";
    put(all + "enabled", "always [madvise] never\n");
    put(all + "hugepages-2048kB/enabled", "[always] inherit madvise never\n");
    put(all + "hugepages-16kB/enabled", "always inherit madvise [never]\n");
    EXPECT_EQ(read_machine(folder).smaller_huge_pages, "never");
    put(all + "hugepages-64kB/enabled", "[always] inherit madvise never\n");
    put(all + "hugepages-1024kB/enabled", "always [inherit] madvise never\n");
    EXPECT_EQ(read_machine(folder).smaller_huge_pages, "64 KiB always, 1 MiB madvise");
}

TEST_F(FakeRoot, TheModeOfLargeHugePagesGoesBeforeThatOfAllSizes) {
    put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    const std::string own = "sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled";
    put("sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "always inherit [never]\n");
    EXPECT_EQ(read_machine(folder).huge_pages, "always");
    put(own, "always inherit madvise [never]\n");
    EXPECT_EQ(read_machine(folder).huge_pages, "never");
    put(own, "always [inherit] madvise never\n");
    EXPECT_EQ(read_machine(folder).huge_pages, "always");
    put(own, "");
    EXPECT_EQ(read_machine(folder).huge_pages, "always");
}

TEST_F(FakeRoot, FilesThatSayNothingLeaveValuesEmpty) {
    const std::string garbage("\xff\xfe\0:::[[\n-1 *//?\?/\\ 9e99\n\n", 26);
    const std::optional<std::string> texts[] = {std::nullopt, garbage, ""}; // none: no file
    for (const auto& text : texts) {
        for (const char* file :
             {"proc/meminfo", "proc/cpuinfo", "proc/self/cgroup", "proc/loadavg",
              "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", "sys/fs/cgroup/cpu.max",
              "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "sys/devices/system/cpu/online",
              "sys/kernel/mm/transparent_hugepage/enabled"}) {
            if (text) put(file, *text);
        }
        const std::string governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        if (text) put(governor + "/file", ""); // a folder in its place
        const Machine machine = read_machine(folder);
        EXPECT_EQ(machine.memory_bytes, 0u);
        EXPECT_EQ(machine.usable_bytes, 0u);
        EXPECT_EQ(machine.microcode, "");
        EXPECT_EQ(machine.huge_pages, "");
        EXPECT_EQ(machine.smaller_huge_pages, "never");
        EXPECT_EQ(machine.governor, "");
        EXPECT_TRUE(measurement_warnings(example(), folder).empty());
        expect_every_string_harmless(to_json(machine));
        if (text) continue;
        EXPECT_GT(machine.cpus, 0);
        EXPECT_EQ(machine.cpu.vendor, read_cpu().vendor);
    }
}

TEST_F(FakeRoot, WarnsOfSpoiledMeasurementsInWordsThatCanStandInAProfile) {
    const std::string v2 = "sys/fs/cgroup/", v1 = "sys/fs/cgroup/cpu/", cgroup = "proc/self/cgroup";
    const struct {
        const char *what, *warning; ///< a part of the only one; "": none
        std::vector<std::pair<std::string, std::string>> files;
        void (*change)(Machine&) = [](Machine&) {};
    } cases[] = {
        {"a quiet machine",
         "",
         {{"proc/loadavg", "3.90 2.00 1.00 2/94 3905\n"},
          {cgroup, "0::/job\n"},
          {v2 + "job/cpu.max", "max 100000\n"},
          {v1 + "cpu.cfs_quota_us", "-1\n"},
          {v1 + "cpu.cfs_period_us", "100000\n"},
          {"sys/devices/cpu_core/type", "4"}}},
        {"other tasks", "3 other tasks", {{"proc/loadavg", "0.00 0.00 0.00 4/94 3905\n"}}},
        {"the least quota of version 2",
         " 50 percent",
         {{cgroup, "0::/outer/inner\n"},
          {v2 + "outer/cpu.max", "50000 100000\n"},
          {v2 + "outer/inner/cpu.max", "150000 100000\n"}}},
        {"a quota of version 1",
         " 200 percent",
         {{cgroup, "3:cpu,cpuacct:/jobs/7\n2:memory:/elsewhere\n"},
          {v1 + "jobs/7/cpu.cfs_quota_us", "200000\n"},
          {v1 + "jobs/7/cpu.cfs_period_us", "100000\n"}}},
        {"quotas without a usable period",
         "",
         {{v2 + "cpu.max", "50000 0\n"}, {v1 + "cpu.cfs_quota_us", "50000\n"}}},
        {"hybrid cores that Linux knows",
         "cores of different kinds",
         {{"sys/devices/cpu_core/type", "4"}, {"sys/devices/cpu_atom/type", "8"}}},
        {"or the CPU", "cores of different kinds", {}, [](Machine& m) { m.cpu.hybrid = true; }},
        {"a counter", "not invariant", {}, [](Machine& m) { m.cpu.invariant_tsc = false; }},
        {"a governor", "is power_/save", {}, [](Machine& m) { m.governor = "power*/save"; }},
        {"a long one", "____", {}, [](Machine& m) { m.governor = std::string(4000, '\\'); }},
        {"an unreadable governor", "", {}, [](Machine& m) { m.governor.clear(); }},
        {"small pages", "Huge pages are off", {}, [](Machine& m) { m.huge_pages = "never"; }},
    };
    for (const auto& one : cases) {
        SCOPED_TRACE(one.what);
        begin_anew(one.files);
        Machine machine = example();
        one.change(machine);
        const auto warnings = measurement_warnings(machine, folder);
        EXPECT_EQ(warnings.size(), *one.warning ? 1u : 0u);
        expect_every_string_harmless(json(warnings));
        for (const std::string& warning : warnings) {
            EXPECT_TRUE(mentions(warning, one.warning));
            EXPECT_EQ(warning.back(), '.') << "cut short: " << warning;
        }
    }
}

TEST(ReadMachine, NamesTheFilesThatItCouldNotReadAndWhy) {
    const Machine here = read_machine("/no/such/root");
    EXPECT_TRUE(mentions(here.unseen.at("cpus"), "cpu/online: No such file"));
    EXPECT_TRUE(mentions(here.unseen.at("memory"), "proc/meminfo: No such file"));
    EXPECT_TRUE(mentions(here.unseen.at("caches"), "cpu0/cache: No such file"));
    EXPECT_EQ(here.unseen.count("libc_thresholds"), 0u); // these are not read from there
}

TEST(UnreadablePart, NamesTheFileThatDoesNotTell) {
    EXPECT_EQ(unreadable_part(example()), "");
    const std::pair<const char*, void (*)(Machine&)> faults[] = {
        {"/proc/meminfo", [](Machine& m) { m.memory_bytes = 0; }},
        {"cpu/online", [](Machine& m) { m.cpus = 0; }},
        {"cpu0/cache", [](Machine& m) { m.caches.clear(); }},
        {"ld.so: none", [](Machine& m) { m.unseen["libc_thresholds"] = "ld.so: none"; }},
    };
    for (const auto& [file, fault] : faults) {
        Machine machine = example();
        fault(machine);
        EXPECT_TRUE(mentions(unreadable_part(machine), file));
    }
}

/// The value of a field of /proc/cpuinfo, of its first CPU; empty where it has none.
std::string in_cpuinfo(const std::string& key) {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
        const std::size_t end = line.find_last_not_of(" \t", line.find(':') - 1) + 1;
        if (line.substr(0, end) == key) return line.substr(line.find(':') + 2);
    }
    return "";
}

TEST(ThisMachine, FeaturesAgreeWithTheKernels) {
    std::istringstream words(in_cpuinfo(kOnArm ? "Features" : "flags"));
    const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
    if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists none";
    const Cpu cpu = read_cpu();
    // Features that Linux never hides by itself. It does hide erms, and has no name for some.
    std::istringstream names(kOnArm ? "asimd atomics dcpop lrcpc sb sve sve2 uscat"
                                    : "mmx sse sse2 ssse3 sse4_1 sse4_2 avx avx2 avx512f avx512vl "
                                      "avx512bw avx512dq clflushopt clwb movdiri movdir64b rdtscp "
                                      "3dnowprefetch");
    for (std::string name; names >> name;) {
        EXPECT_EQ(has_feature(cpu, name), flags.count(name) > 0) << name;
    }
    EXPECT_TRUE(std::is_sorted(cpu.features.begin(), cpu.features.end()));
    EXPECT_FALSE(has_feature(cpu, kOnArm ? "asim" : "ss")) << "the start of a name is not the name";
}

TEST(ThisMachine, IdentityAgreesWithTheKernels) {
    if (kOnArm) {
        std::ifstream file("/proc/cpuinfo");
        const std::string cpuinfo{std::istreambuf_iterator<char>(file), {}};
        const auto midr = midr_in_cpuinfo(cpuinfo, 0); // of another machine's in emulation: none
        if (!midr) GTEST_SKIP() << "/proc/cpuinfo does not name such a processor";
        const Cpu cpu = read_cpu("/", 0);
        EXPECT_EQ(cpu.brand, decode_midr(*midr).brand);
        EXPECT_EQ(cpu.model, decode_midr(*midr).part);
        return;
    }
    if (in_cpuinfo("vendor_id").empty()) GTEST_SKIP() << "the fields have other names";
    const Cpu cpu = read_cpu();
    const std::pair<const char*, std::string> fields[] = {
        {"vendor_id", cpu.vendor},
        {"cpu family", std::to_string(cpu.family)},
        {"model", std::to_string(cpu.model)},
        {"stepping", std::to_string(cpu.stepping)},
        {"model name", cpu.brand}};
    for (const auto& [field, value] : fields) EXPECT_EQ(in_cpuinfo(field), value);
}

#ifdef __GLIBC__
TEST(ThisMachine, MemoryLibcAndItsThresholdsAreRead) {
    const Machine machine = read_machine();
    EXPECT_GT(machine.usable_bytes, 0u);
    EXPECT_LE(machine.usable_bytes, machine.memory_bytes);
    EXPECT_EQ(machine.libc, std::string("glibc ") + gnu_get_libc_version());
    EXPECT_EQ(machine.unseen.count("libc_thresholds"), 0u);
    if (!__GLIBC_PREREQ(2, 33)) GTEST_SKIP() << "this glibc does not list its tunables";
    for (const char* name : {"x86_non_temporal_threshold", "x86_rep_movsb_threshold"}) {
        EXPECT_EQ(machine.libc_thresholds.count(name), kOnArm ? 0u : 1u);
    }
}
#endif
