// Describes the machine: from sysfs, procfs and cgroups.
#include "machine/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "machine/affinity.hpp"
#include "machine/libc.hpp"
#include "machine/system_text.hpp"

namespace asterope {

namespace fs = std::filesystem;

namespace {

/// Bytes of a size as sysfs writes it, such as "32K"; 0 if it is not one.
std::size_t cache_bytes(std::string_view text) {
    try {
        return parse_size(trim(text));
    } catch (const BadInput&) {
        return 0;
    }
}

// ---------------------------------------------------------------- sysfs and procfs

constexpr const char* kOnlineFile = "sys/devices/system/cpu/online";

std::string caches_folder(int cpu) {
    return "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
}

/// Why a file or folder says nothing.
std::string cannot_read(const fs::path& root, const std::string& place) {
    const bool readable = access((root / place).c_str(), R_OK) == 0;
    return "/" + place + ": " + (readable ? "says nothing that makes sense" : std::strerror(errno));
}

/// -1 where the system does not tell.
int last_allowed_cpu() {
    try {
        return allowed_cpus().back();
    } catch (const Failure&) {
        return -1;
    }
}

std::vector<Cache> read_caches(const fs::path& root, int cpu) {
    std::vector<Cache> caches;
    for (int index = 0; index < 16; ++index) {
        const fs::path folder = root / caches_folder(cpu) / ("index" + std::to_string(index));
        const std::string type = read_word(folder / "type");
        if (type != "Data" && type != "Unified") continue;
        Cache cache;
        cache.level = small_number(read_text(folder / "level"));
        cache.type = type == "Data" ? "data" : "unified";
        cache.bytes = cache_bytes(read_text(folder / "size"));
        cache.line_bytes = small_number(read_text(folder / "coherency_line_size"));
        if (cache.line_bytes == 0) cache.line_bytes = read_line_bytes();
        cache.ways = small_number(read_text(folder / "ways_of_associativity"));
        cache.shared_by = count_cpus(read_text(folder / "shared_cpu_list"));
        if (cache.level > 0 && cache.bytes > 0) caches.push_back(cache);
    }
    std::ranges::stable_sort(caches, {}, &Cache::level);
    return caches;
}

std::optional<std::uint64_t> meminfo_bytes(const std::string& meminfo, std::string_view key) {
    const auto kib = number(value_of(meminfo, key));
    if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
    return *kib * 1024;
}

/// The word in brackets, as the kernel marks the choice that holds; empty where there is none.
std::string chosen_in(const fs::path& file) {
    const std::string choices = read_text(file);
    const std::size_t open = choices.find('[');
    const std::size_t close = choices.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) return {};
    return choices.substr(open + 1, close - open - 1);
}

/// The mode of huge pages of so many KiB; empty: the system has none of that size. Since Linux 6.8
/// each size has a mode, which may be that of all sizes: `inherit`.
std::string mode_of_size(const fs::path& folder, std::size_t kib) {
    const std::string name = "hugepages-" + std::to_string(kib) + "kB";
    const std::string own = chosen_in(folder / name / "enabled");
    return own == "inherit" ? chosen_in(folder / "enabled") : own;
}

const char* const kHugePagesFolder = "sys/kernel/mm/transparent_hugepage";

std::string read_huge_pages(const fs::path& root) {
    const fs::path folder = root / kHugePagesFolder;
    const std::string own = mode_of_size(folder, 2048);
    return own.empty() ? chosen_in(folder / "enabled") : own;
}

std::string read_smaller_huge_pages(const fs::path& root) {
    std::string all;
    for (std::size_t kib = 8; kib < 2048; kib *= 2) {
        const std::string mode = mode_of_size(root / kHugePagesFolder, kib);
        if (mode.empty() || mode == "never") continue;
        all += (all.empty() ? "" : ", ") + format_size(kib * 1024) + ' ' + mode;
    }
    return all.empty() ? "never" : all;
}

// ---------------------------------------------------------------- cgroups

/// The folders whose limits bind this process for one controller: its own cgroup and all above it,
/// in version 2 and in version 1. Version 1 is looked for at its customary place, for the mount
/// table would seldom say more. A container may be told its path on the host, and does not see that
/// folder. Then the root of its view remains, which holds its limits.
std::vector<fs::path> cgroup_folders(const fs::path& root, const std::string& controller) {
    std::string v1_path = "/", v2_path = "/";
    for (const std::string& line : lines_of(read_text(root / "proc/self/cgroup"))) {
        std::istringstream fields(line);
        std::string hierarchy, controllers, path;
        std::getline(std::getline(std::getline(fields, hierarchy, ':'), controllers, ':'), path);
        if (path.empty() || path.find("..") != std::string::npos) continue; // out of view
        if (controllers.empty()) v2_path = path;
        if (contains(split(controllers, ','), controller)) v1_path = path;
    }
    std::vector<fs::path> folders;
    const auto add = [&](const fs::path& mount, const std::string& own_path) {
        for (fs::path part = fs::path(own_path).relative_path(); !part.empty();
             part = part.parent_path())
            folders.push_back(mount / part);
        folders.push_back(mount);
    };
    const fs::path mounts = root / "sys/fs/cgroup";
    add(mounts, v2_path);
    add(mounts / "unified", v2_path);
    add(mounts / controller, v1_path);
    return folders;
}

/// The memory that a cgroup still allows; empty if it sets no limit. Its use includes cached files.
/// The inactive ones give way at once, so they do not count. (Without this, a long-lived container
/// that has read much looks full.)
std::optional<std::uint64_t> memory_left(const fs::path& folder, const char* limit_file,
                                         const char* usage_file, const char* inactive_key) {
    const auto limit = number(read_text(folder / limit_file));
    if (!limit) return std::nullopt;
    const std::uint64_t usage = number(read_text(folder / usage_file)).value_or(0);
    const std::uint64_t inactive =
        number(value_of(read_text(folder / "memory.stat"), inactive_key)).value_or(0);
    const std::uint64_t held = usage - std::min(usage, inactive);
    return *limit - std::min(*limit, held);
}

std::size_t read_usable(const fs::path& root, const std::string& meminfo) {
    std::optional<std::uint64_t> usable = meminfo_bytes(meminfo, "MemAvailable");
    const auto at_most = [&](std::optional<std::uint64_t> bytes) {
        if (bytes) usable = std::min(usable.value_or(UINT64_MAX), *bytes);
    };
    at_most(meminfo_bytes(meminfo, "MemTotal")); // all there is to go by before Linux 3.14
    for (const fs::path& folder : cgroup_folders(root, "memory")) {
        at_most(memory_left(folder, "memory.max", "memory.current", "inactive_file"));
        at_most(memory_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_inactive_file"));
    }
    // ulimit -m, which Linux leaves to the programs to keep, -v and -d
    for (const auto resource : {RLIMIT_RSS, RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit;
        if (usable && getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            at_most(limit.rlim_cur);
    }
    return static_cast<std::size_t>(usable.value_or(0));
}

/// The tightest CPU quota on this process, in percent of one CPU; empty without a quota.
std::optional<std::uint64_t> cpu_quota_percent(const fs::path& root) {
    std::optional<std::uint64_t> tightest;
    const auto add = [&](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
        if (!quota || !period || *period == 0 || *quota > UINT64_MAX / 100) return;
        tightest = std::min(tightest.value_or(UINT64_MAX), *quota * 100 / *period);
    };
    for (const fs::path& folder : cgroup_folders(root, "cpu")) {
        const std::string max = read_word(folder / "cpu.max"); // "50000 100000" or "max 100000"
        const std::size_t blank = max.find(' ');
        if (blank != std::string::npos)
            add(number(max.substr(0, blank)), number(max.substr(blank)));
        // -1 stands for no quota. It cannot be read as a number here.
        add(number(read_text(folder / "cpu.cfs_quota_us")),
            number(read_text(folder / "cpu.cfs_period_us")));
    }
    return tightest;
}

/// " (Cortex-A55 r1p0: 0-3, Cortex-A76 r3p0: 4-7)"; empty where they cannot be told apart.
std::string kinds_text(const Cpu& cpu) {
    const std::string text =
        joined(cpu.kinds, [](const CpuKind& kind) { return kind.brand + ": " + kind.cpus; });
    return text.empty() ? "" : " (" + text + ')';
}

} // namespace

std::size_t usable_memory(const Machine& machine) {
    const bool known = machine.usable_bytes || machine.memory_bytes;
    return known ? machine.usable_bytes : std::size_t{1} << 30;
}

std::size_t last_cache_bytes(const std::vector<Cache>& caches) {
    std::size_t bytes = 0;
    for (const Cache& cache : caches) bytes = std::max(bytes, cache.bytes);
    return bytes;
}

Machine read_machine(const fs::path& root, int cpu) {
    if (cpu < 0) cpu = last_allowed_cpu();
    Machine machine;
    machine.cpu = read_cpu(root, cpu);
    machine.microcode = value_of(read_text(root / "proc/cpuinfo"), "microcode");
    const int cpu_of_caches = machine.cpu.kinds.empty() ? 0 : std::max(0, cpu);
    machine.caches = read_caches(root, cpu_of_caches);
    if (machine.caches.empty()) {
        machine.caches = read_cpu_caches();
        machine.unseen["caches"] = cannot_read(root, caches_folder(cpu_of_caches));
    }
    machine.cpus = count_cpus(read_text(root / kOnlineFile));
    if (machine.cpus <= 0) {
        // sysconf does not come first: glibc 2.34 counts the CPUs that the process may use, and a
        // taskset would then change the fingerprint.
        machine.cpus = static_cast<int>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
        machine.unseen["cpus"] = cannot_read(root, kOnlineFile);
    }

    const std::string meminfo = read_text(root / "proc/meminfo");
    machine.memory_bytes = static_cast<std::size_t>(meminfo_bytes(meminfo, "MemTotal").value_or(0));
    if (machine.memory_bytes == 0) machine.unseen["memory"] = cannot_read(root, "proc/meminfo");
    machine.usable_bytes = read_usable(root, meminfo);
    machine.memory = read_memory_modules(root);
    machine.page_bytes = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
    machine.huge_pages = read_huge_pages(root);
    machine.smaller_huge_pages = read_smaller_huge_pages(root);

    utsname system;
    if (uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release;
    const std::string interpreter = program_interpreter();
    machine.libc = read_libc(interpreter);
    std::string why;
    machine.libc_thresholds = read_libc_thresholds(interpreter, why);
    if (!why.empty()) machine.unseen["libc_thresholds"] = why;
    machine.governor = read_word(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    return machine;
}

std::string unreadable_part(const Machine& machine) {
    const auto sentence = [](const std::string& what, const std::string& file) {
        return "cannot tell " + what + " from " + file +
               ": mount /proc and /sys, or run where they can be read";
    };
    if (machine.memory_bytes == 0) return sentence("the size of the memory", "/proc/meminfo");
    if (machine.cpus <= 0) return sentence("the number of CPUs", "/sys/devices/system/cpu/online");
    if (machine.caches.empty())
        return sentence("the caches", "/sys/devices/system/cpu/cpu0/cache nor from the processor");
    // otherwise check would find the profile stale on each machine that answers
    if (const auto unseen = machine.unseen.find("libc_thresholds"); unseen != machine.unseen.end())
        return "cannot tell libc's thresholds: " + unseen->second +
               ": run it where it can be asked";
    return {};
}

std::vector<std::string> measurement_warnings(const Machine& machine, const fs::path& root) {
    std::vector<std::string> warnings;
    // The tasks that can run this moment, this one included (the fourth field, "3/94"). The load
    // average would not do: it remembers the build which ends a second before the tuning. One other
    // task is normal (a terminal, a daemon) and finds a CPU of its own. Further ones compete for
    // this CPU or for the shared cache and the memory.
    unsigned long runnable = 0;
    const std::string load = read_text(root / "proc/loadavg");
    const bool known = std::sscanf(load.c_str(), "%*s %*s %*s %lu/", &runnable) == 1;
    if (known && runnable > 2)
        warnings.push_back(std::to_string(runnable - 1) +
                           " other tasks are running now and share caches and memory: stop them, "
                           "or tune when the machine is idle.");

    if (!machine.cpu.invariant_tsc)
        warnings.push_back("The cycle counter is not invariant, so times shift with the clock "
                           "speed: fix the CPU frequency, or let the hypervisor pass the "
                           "invariant TSC on.");
    if (!machine.governor.empty() && machine.governor != "performance")
        warnings.push_back(
            profile_name("The frequency governor is " + machine.governor.substr(0, 40) +
                         ", so the clock speed changes between samples: choose performance "
                         "(cpupower frequency-set -g performance) while tuning."));
    if (const auto percent = cpu_quota_percent(root))
        warnings.push_back("A CPU quota of " + std::to_string(*percent) +
                           " percent of one CPU for its cgroup can stop this process in a sample: "
                           "lift it (cpu.max or cpu.cfs_quota_us of its cgroup) while tuning.");
    std::error_code ignored;
    if (machine.cpu.hybrid || (fs::exists(root / "sys/devices/cpu_core", ignored) &&
                               fs::exists(root / "sys/devices/cpu_atom", ignored)))
        warnings.push_back(profile_name(
            "This processor has cores of different kinds" + kinds_text(machine.cpu) +
            " and the result holds for one of them: choose the CPU to tune on with --cpu."));
    if (machine.huge_pages == "never")
        warnings.push_back("Huge pages are off, so large copies also wait for address "
                           "translation: write madvise to "
                           "/sys/kernel/mm/transparent_hugepage/enabled while tuning.");
    return warnings;
}

} // namespace asterope
