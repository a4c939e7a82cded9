// Describes the machine: from sysfs, procfs, cgroups and libc's loader; its fingerprint.
#include "machine/machine.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

namespace asterope {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// ---------------------------------------------------------------- small text

/// The number at the start of the text, "max" and garbage being none.
std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
    text = trim(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

int small_number(std::string_view text) {
    const auto value = number(text);
    return value && *value <= 1u << 20 ? static_cast<int>(*value) : 0;
}

/// The start of a file, empty if it cannot be read. The limit is far beyond what is looked for.
std::string read_text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text(64 * 1024, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::string read_word(const fs::path& file) {
    return std::string(trim(read_text(file)));
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// What follows `key` on the first line that starts with it and goes on with a separator.
std::string value_of(const std::string& text, std::string_view key) {
    for (const std::string& line : lines_of(text)) {
        if (line.rfind(key, 0) != 0) continue;
        const std::string_view rest = std::string_view(line).substr(key.size());
        const std::size_t start = rest.find_first_not_of(" \t:");
        if (start == 0 || start == std::string_view::npos) continue;
        return std::string(trim(rest.substr(start)));
    }
    return {};
}

/// How many CPUs a list such as "0-3,8" names; 0 if it is not one.
int count_cpus(std::string_view list) {
    int count = 0;
    list = trim(list);
    while (!list.empty()) {
        const std::string_view range = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), range.size() + 1));
        const std::size_t dash = range.find('-');
        const auto first = number(range.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
        if (!first || !last || *last < *first || *last > 1u << 20) return 0;
        count += static_cast<int>(*last - *first + 1);
    }
    return count;
}

/// Bytes of a size as sysfs writes it, such as "32K"; 0 if it is not one.
std::size_t cache_bytes(std::string_view text) {
    const auto value = number(text);
    if (!value || *value > 1ull << 40) return 0;
    switch (trim(text).back()) {
    case 'K':
        return *value << 10;
    case 'M':
        return *value << 20;
    case 'G':
        return *value << 30;
    default:
        return *value;
    }
}

// ---------------------------------------------------------------- sysfs and procfs

constexpr const char* kOnlineFile = "sys/devices/system/cpu/online";
constexpr const char* kCachesFolder = "sys/devices/system/cpu/cpu0/cache";

/// Why a file or folder says nothing.
std::string cannot_read(const fs::path& root, const char* place) {
    const bool readable = access((root / place).c_str(), R_OK) == 0;
    return "/" + std::string(place) + ": " +
           (readable ? "says nothing that makes sense" : std::strerror(errno));
}

std::vector<Cache> read_caches(const fs::path& root) {
    std::vector<Cache> caches;
    for (int index = 0; index < 16; ++index) {
        const fs::path folder = root / kCachesFolder / ("index" + std::to_string(index));
        const std::string type = read_word(folder / "type");
        if (type != "Data" && type != "Unified") continue;
        Cache cache;
        cache.level = small_number(read_text(folder / "level"));
        cache.type = type == "Data" ? "data" : "unified";
        cache.bytes = cache_bytes(read_text(folder / "size"));
        cache.line_bytes = small_number(read_text(folder / "coherency_line_size"));
        cache.ways = small_number(read_text(folder / "ways_of_associativity"));
        cache.shared_by = count_cpus(read_text(folder / "shared_cpu_list"));
        if (cache.level > 0 && cache.bytes > 0) caches.push_back(cache);
    }
    std::stable_sort(caches.begin(), caches.end(),
                     [](const Cache& a, const Cache& b) { return a.level < b.level; });
    return caches;
}

std::optional<std::uint64_t> meminfo_bytes(const std::string& meminfo, std::string_view key) {
    const auto kib = number(value_of(meminfo, key));
    if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
    return *kib * 1024;
}

std::string read_huge_pages(const fs::path& root) {
    const std::string choices = read_text(root / "sys/kernel/mm/transparent_hugepage/enabled");
    const std::size_t open = choices.find('[');
    const std::size_t close = choices.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) return {};
    return choices.substr(open + 1, close - open - 1);
}

// ---------------------------------------------------------------- cgroups

/// The folders whose limits bind this process for one controller: its own cgroup and all above
/// it, in version 2 and in version 1. Version 1 lies at its customary place, for the mount table
/// would seldom say more. A container that is told its path on the host does not see that
/// folder: what remains then is the root of its view, which holds its limits.
std::vector<fs::path> cgroup_folders(const fs::path& root, const std::string& controller) {
    std::string v1_path = "/", v2_path = "/";
    for (const std::string& line : lines_of(read_text(root / "proc/self/cgroup"))) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        if (path.find("..") != std::string::npos) continue; // outside this process's view
        if (controllers.empty()) v2_path = path;
        if (("," + controllers + ",").find("," + controller + ",") != std::string::npos)
            v1_path = path;
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

/// What a cgroup still allows, none if it sets no limit. Its use includes cached files; the
/// inactive ones give way at once, so they do not count (without this, a long-lived container
/// that has read much looks full).
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
    return static_cast<std::size_t>(usable.value_or(0));
}

/// The tightest CPU quota on this process, in percent of one CPU; none if there is none.
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
        // -1, which is no number here, stands for no quota.
        add(number(read_text(folder / "cpu.cfs_quota_us")),
            number(read_text(folder / "cpu.cfs_period_us")));
    }
    return tightest;
}

// ---------------------------------------------------------------- libc

/// The loader this program was started by, such as /lib64/ld-linux-x86-64.so.2; empty if it is
/// linked statically.
std::string program_interpreter() {
    std::string interpreter;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* found) {
            for (int i = 0; i < object->dlpi_phnum; ++i) {
                const auto& header = object->dlpi_phdr[i];
                if (header.p_type == PT_INTERP)
                    *static_cast<std::string*>(found) =
                        reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
            }
            return 1; // the program itself comes first; the libraries do not matter
        },
        &interpreter);
    return interpreter;
}

/// What a program writes to its standard output and error. Where it cannot be run, or takes longer
/// than two seconds: empty, and `why`. No shell: nothing is to be interpreted. No /dev/null either:
/// it is not everywhere.
std::string output_of(const std::string& program, const std::string& argument, std::string& why) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        why = std::strerror(errno);
        return {};
    }

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::string name = program, option = argument;
    char* const arguments[] = {name.data(), option.data(), nullptr};
    pid_t child = -1;
    const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    std::string output;
    if (failed) {
        why = std::strerror(failed);
    } else {
        using Clock = std::chrono::steady_clock;
        const auto deadline = Clock::now() + std::chrono::seconds(2);
        bool ended = false;
        while (!ended && output.size() < 1 << 20) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
            if (left.count() <= 0) break;
            pollfd waiting{ends[0], POLLIN, 0};
            if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
            std::array<char, 4096> piece;
            const ssize_t count = read(ends[0], piece.data(), piece.size());
            if (count > 0) output.append(piece.data(), static_cast<std::size_t>(count));
            ended = count == 0 || (count < 0 && errno != EINTR);
        }
        if (!ended) {
            output.clear();
            why = "takes longer than two seconds";
        }
        kill(child, SIGKILL); // for one that hangs; one that is done does not feel it
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return output;
}

std::string read_libc(const std::string& interpreter) {
#ifdef __GLIBC__
    (void)interpreter;
    return std::string("glibc ") + gnu_get_libc_version();
#else
    // musl has no macro to be known by, on purpose; its loader has a name.
    return interpreter.find("ld-musl") != std::string::npos ? "musl" : "unknown";
#endif
}

/// Whether this libc's loader knows --list-tunables.
bool lists_tunables() {
#ifdef __GLIBC__
    int major = 0, minor = 0;
    return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(2, 33);
#else
    return false; // musl's loader would take the option for a program to run
#endif
}

/// glibc 2.33 and later list their tunables as this environment sets them, a line each:
/// "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: 0xffffffffffffffff)".
/// `why`: why they could not be asked for.
std::map<std::string, std::size_t> read_libc_thresholds(const std::string& interpreter,
                                                        std::string& why) {
    std::map<std::string, std::size_t> thresholds;
    if (interpreter.empty() || !lists_tunables()) return thresholds;
    const std::string listing = output_of(interpreter, "--list-tunables", why);
    if (why.empty() && listing.find("glibc.") == std::string::npos) why = "lists none";
    if (!why.empty()) why = interpreter + " --list-tunables: " + why;
    for (const char* name : {"x86_non_temporal_threshold", "x86_rep_movsb_threshold"}) {
        const std::string value = value_of(listing, std::string("glibc.cpu.") + name);
        if (value.rfind("0x", 0) != 0) continue;
        if (const auto bytes = number(value.substr(2), 16))
            thresholds[name] = static_cast<std::size_t>(*bytes);
    }
    return thresholds;
}

// ---------------------------------------------------------------- JSON and fingerprint

/// The profile's object without the fingerprint.
json describe(const Machine& machine) {
    json features = json::array(), caches = json::array(), thresholds = json::object();
    for (const std::string& feature : machine.cpu.features)
        features.push_back(profile_name(feature));
    for (const Cache& cache : machine.caches)
        caches.push_back({{"level", cache.level},
                          {"type", profile_name(cache.type)},
                          {"bytes", cache.bytes},
                          {"line_bytes", cache.line_bytes},
                          {"ways", cache.ways},
                          {"shared_by", cache.shared_by}});
    for (const auto& [name, bytes] : machine.libc_thresholds)
        thresholds[profile_name(name)] = bytes;
    json memory = json::object();
    if (!machine.memory.type.empty()) memory["type"] = profile_name(machine.memory.type);
    for (const auto& [name, value] : {std::pair("modules", machine.memory.modules),
                                      {"speed_mts", machine.memory.speed_mts},
                                      {"channels", machine.memory.channels},
                                      {"edac_channels", machine.memory.edac_channels}})
        if (value > 0) memory[name] = value;
    json description = {{"cpu",
                         {{"vendor", profile_name(machine.cpu.vendor)},
                          {"brand", profile_name(machine.cpu.brand)},
                          {"family", machine.cpu.family},
                          {"model", machine.cpu.model},
                          {"stepping", machine.cpu.stepping},
                          {"microcode", profile_name(machine.microcode)},
                          {"features", features},
                          {"invariant_tsc", machine.cpu.invariant_tsc}}},
                        {"caches", caches},
                        {"cpus", machine.cpus},
                        {"memory_bytes", machine.memory_bytes},
                        {"page_bytes", machine.page_bytes},
                        {"huge_pages", profile_name(machine.huge_pages)},
                        {"kernel", profile_name(machine.kernel)},
                        {"hypervisor", profile_name(machine.cpu.hypervisor)},
                        {"libc", profile_name(machine.libc)},
                        {"libc_thresholds", thresholds},
                        {"governor", profile_name(machine.governor)}};
    if (!memory.empty()) description["memory"] = memory;
    return description;
}

/// A member, null if there is none or the value is no object.
const json& member(const json& value, const std::string& key) {
    static const json kNull;
    if (!value.is_object()) return kNull;
    const auto found = value.find(key);
    return found == value.end() ? kNull : *found;
}

/// Any value as a short text. Objects and arrays give only their kind: a profile comes from
/// outside, and printing one recurses as deep as it is nested.
std::string text_of(const json& value) {
    if (value.is_string()) return profile_name(value.get_ref<const std::string&>());
    if (value.is_structured() || value.is_binary()) return value.type_name();
    return profile_name(value.dump());
}

std::optional<std::uint64_t> bytes_of(const json& value) {
    if (!value.is_number_integer() || value < 0) return std::nullopt;
    return value.get<std::uint64_t>();
}

std::string cache_text(const json& cache) {
    const json& size = member(cache, "bytes");
    const auto bytes = bytes_of(size);
    return (bytes && *bytes % 1024 == 0 ? std::to_string(*bytes / 1024) + " KiB"
                                        : text_of(size) + " bytes") +
           ", " + text_of(member(cache, "ways")) + " ways";
}

std::string gib_text(const json& memory) {
    const auto bytes = bytes_of(memory);
    if (!bytes) return text_of(memory);
    constexpr std::uint64_t kGib = 1u << 30;
    return std::to_string(*bytes / kGib + (*bytes % kGib >= kGib / 2)) + " GiB";
}

std::set<std::string> feature_set(const json& features) {
    if (!features.is_array()) return {text_of(features)};
    std::set<std::string> names;
    for (const json& feature : features) names.insert(text_of(feature));
    return names;
}

std::string joined(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

using Parts = std::map<std::string, std::string>;

/// What decides copy speed, by name, of a "machine" object. The fingerprint and the list of
/// differences both come from here, so that they cannot disagree. Missing members are left out.
Parts deciding_parts(const json& machine) {
    Parts parts;
    const json& cpu = member(machine, "cpu");
    for (const char* name : {"vendor", "family", "model", "stepping"})
        if (const json& value = member(cpu, name); !value.is_null())
            parts[std::string("cpu.") + name] = text_of(value);
    for (const char* name : {"cpus", "hypervisor", "libc"})
        if (const json& value = member(machine, name); !value.is_null())
            parts[name] = text_of(value);
    if (const json& features = member(cpu, "features"); !features.is_null())
        parts["cpu.features"] = joined(feature_set(features));
    if (const json& memory = member(machine, "memory_bytes"); !memory.is_null())
        parts["memory"] = gib_text(memory);
    if (const json& caches = member(machine, "caches"); caches.is_array())
        for (const json& cache : caches) {
            std::string& part = parts["caches.L" + text_of(member(cache, "level")) + " " +
                                      text_of(member(cache, "type"))];
            part += (part.empty() ? "" : " and ") + cache_text(cache);
        }
    if (const json& thresholds = member(machine, "libc_thresholds"); thresholds.is_object())
        for (const auto& [name, value] : thresholds.items())
            parts["libc_thresholds." + profile_name(name)] = text_of(value);
    return parts;
}

/// What decides, too, but is no part of the fingerprint: not everybody can read it, and profiles
/// of before it was recorded shall stay valid.
Parts module_parts(const json& machine) {
    Parts parts;
    const json& memory = member(machine, "memory");
    for (const char* name : {"type", "modules", "channels", "edac_channels"})
        if (const json& value = member(memory, name); !value.is_null())
            parts[std::string("memory.") + name] = text_of(value);
    if (const json& speed = member(memory, "speed_mts"); !speed.is_null())
        parts["memory.speed"] = text_of(speed) + " MT/s";
    return parts;
}

/// What routine updates and other programs change. Empty is what cannot be read.
Parts harmless_parts(const json& machine) {
    Parts parts;
    const auto add = [&](const json& object, const char* key, const std::string& name) {
        const std::string text = text_of(member(object, key));
        if (!member(object, key).is_null() && !text.empty()) parts[name] = text;
    };
    for (const char* name : {"brand", "microcode"})
        add(member(machine, "cpu"), name, std::string("cpu.") + name);
    for (const char* name : {"kernel", "huge_pages", "governor"}) add(machine, name, name);
    return parts;
}

std::string fingerprint_of(const json& machine) {
    std::string text = std::string("architecture=") + kArchitecture + "\n";
    for (const auto& [name, value] : deciding_parts(machine)) text += name + "=" + value + "\n";
    return text_hash(text);
}

/// The features of the one list that the other lacks: the whole lists would hide the difference.
std::string feature_difference(const json& recorded, const json& current) {
    const std::set<std::string> there = feature_set(member(member(recorded, "cpu"), "features"));
    const std::set<std::string> here = feature_set(member(member(current, "cpu"), "features"));
    std::set<std::string> only_there, only_here;
    std::set_difference(there.begin(), there.end(), here.begin(), here.end(),
                        std::inserter(only_there, only_there.end()));
    std::set_difference(here.begin(), here.end(), there.begin(), there.end(),
                        std::inserter(only_here, only_here.end()));
    std::string line = "cpu.features:";
    if (!only_there.empty()) line += " " + joined(only_there) + " only in the profile";
    if (!only_there.empty() && !only_here.empty()) line += ",";
    if (!only_here.empty()) line += " " + joined(only_here) + " only here";
    return line;
}

} // namespace

std::size_t last_cache_bytes(const std::vector<Cache>& caches) {
    std::size_t bytes = 0;
    for (const Cache& cache : caches) bytes = std::max(bytes, cache.bytes);
    return bytes;
}

Machine read_machine(const fs::path& root) {
    Machine machine;
    machine.cpu = read_cpu();
    machine.microcode = value_of(read_text(root / "proc/cpuinfo"), "microcode");
    machine.caches = read_caches(root);
    if (machine.caches.empty()) {
        machine.caches = read_cpu_caches();
        machine.unseen["caches"] = cannot_read(root, kCachesFolder);
    }
    machine.cpus = count_cpus(read_text(root / kOnlineFile));
    if (machine.cpus <= 0) {
        // Not sysconf first: glibc 2.34 counts the CPUs that the process may use, and a taskset
        // would then change the fingerprint.
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

json to_json(const Machine& machine) {
    json description = describe(machine);
    description["fingerprint"] = fingerprint_of(description);
    return description;
}

std::string fingerprint(const Machine& machine) {
    return fingerprint_of(describe(machine));
}

std::vector<Part> compare_machines(const json& recorded_machine, const json& current_machine) {
    const json& recorded_print = member(recorded_machine, "fingerprint");
    const json& current_print = member(current_machine, "fingerprint");
    const bool same_print = recorded_print.is_string() && recorded_print == current_print;

    std::vector<Part> parts;
    const auto shown = [](const Parts& all, const std::string& name) {
        const auto found = all.find(name);
        if (found == all.end()) return std::string("missing");
        return found->second.empty() ? std::string("none") : found->second;
    };
    const auto compare = [&](const Parts& recorded, const Parts& here, PartState different,
                             bool lacking_decides) {
        std::set<std::string> names;
        for (const Parts* some : {&recorded, &here})
            for (const auto& [name, value] : *some) names.insert(name);
        for (const std::string& name : names) {
            const auto was = recorded.find(name), is = here.find(name);
            Part part{name, different, was == recorded.end() ? "" : was->second,
                      is == here.end() ? "" : is->second, ""};
            if (was == recorded.end()) {
                if (!lacking_decides || same_print) part.state = PartState::not_recorded;
            } else if (is == here.end()) {
                if (!lacking_decides) part.state = PartState::not_readable;
            } else if (part.recorded == part.here) {
                part.state = PartState::same;
            }
            if (part.state == PartState::decides || part.state == PartState::harmless) {
                part.difference =
                    name == "cpu.features" && was != recorded.end() && is != here.end()
                        ? feature_difference(recorded_machine, current_machine)
                        : name + ": " + shown(recorded, name) + " in the profile, " +
                              shown(here, name) + " here";
            }
            parts.push_back(std::move(part));
        }
    };
    compare(deciding_parts(recorded_machine), deciding_parts(current_machine), PartState::decides,
            true);
    // Equal parts under another fingerprint: it was edited, or another version made it.
    const bool decided = std::any_of(parts.begin(), parts.end(), [](const Part& part) {
        return part.state == PartState::decides;
    });
    if (!decided && !recorded_print.is_null() && !same_print) {
        const std::string was = text_of(recorded_print), is = text_of(current_print);
        parts.push_back({"fingerprint", PartState::decides, was, is,
                         "fingerprint: " + was + " in the profile, " + is + " here"});
    }
    compare(module_parts(recorded_machine), module_parts(current_machine), PartState::decides,
            false);
    compare(harmless_parts(recorded_machine), harmless_parts(current_machine), PartState::harmless,
            false);
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.name < b.name; });
    return parts;
}

std::vector<std::string> fingerprint_differences(const json& recorded_machine,
                                                 const json& current_machine) {
    std::vector<std::string> differences;
    for (const Part& part : compare_machines(recorded_machine, current_machine))
        if (part.state == PartState::decides) differences.push_back(part.difference);
    return differences;
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
    // check would find the profile stale wherever it can ask.
    if (const auto unseen = machine.unseen.find("libc_thresholds"); unseen != machine.unseen.end())
        return "cannot tell libc's thresholds: " + unseen->second +
               ": run it where it can be asked";
    return {};
}

std::vector<std::string> measurement_warnings(const Machine& machine, const fs::path& root) {
    std::vector<std::string> warnings;
    // The tasks that can run this moment, this one included (the fourth field, "3/94"), and not
    // the load average: that one remembers the build which ends a second before the tuning. One
    // other task is normal (a terminal, a daemon) and finds a CPU of its own; more than one
    // competes for this CPU or for the shared cache and the memory.
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
                         ", so the clock speed changes between trials: choose performance "
                         "(cpupower frequency-set -g performance) while tuning."));
    if (const auto percent = cpu_quota_percent(root))
        warnings.push_back("A CPU quota of " + std::to_string(*percent) +
                           " percent of one CPU can stop this process in the middle of a trial: "
                           "lift it (cpu.max or cpu.cfs_quota_us of its cgroup) while tuning.");
    std::error_code ignored;
    if (machine.cpu.hybrid || (fs::exists(root / "sys/devices/cpu_core", ignored) &&
                               fs::exists(root / "sys/devices/cpu_atom", ignored)))
        warnings.push_back("This processor has cores of different kinds and the result holds for "
                           "one of them: choose the CPU to tune on with --cpu.");
    if (machine.huge_pages == "never")
        warnings.push_back("Huge pages are off, so large copies also wait for address "
                           "translation: write madvise to "
                           "/sys/kernel/mm/transparent_hugepage/enabled while tuning.");
    return warnings;
}

} // namespace asterope
