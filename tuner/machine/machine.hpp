// Describes the machine a profile holds for, and says when another one is too different.
#pragma once

#include "machine/cpu.hpp"
#include "machine/memory_modules.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace asterope {

/// What could not be read is empty or 0.
struct Machine {
    Cpu cpu;
    std::string microcode;
    std::vector<Cache>
        caches;   ///< those that hold data, nearest first; of CPU 0 where all are alike
    int cpus = 0; ///< logical CPUs online, whatever this process may use of them
    std::size_t memory_bytes = 0;
    /// What the buffers may take: the least of the memory available, of what the cgroups of this
    /// process still allow, and of its limit of resident memory (ulimit -m).
    std::size_t usable_bytes = 0;
    MemoryModules memory;
    std::size_t page_bytes = 0;
    std::string huge_pages; ///< transparent huge pages: "always", "madvise" or "never"
    std::string kernel;     ///< "Linux 6.1.0"
    std::string libc;       ///< "glibc 2.36", "musl" or "unknown"
    /// Sizes in bytes at which libc's memcpy changes its way of copying, by tunable name.
    std::map<std::string, std::size_t> libc_thresholds;
    std::string governor; ///< CPU 0's frequency governor
    /// What could not be looked at, and why: by the part's name, as in compare_machines() up to its
    /// first dot. What is said of such a part is a guess, or nothing.
    std::map<std::string, std::string> unseen;
};

/// Of the last level, in bytes; 0 where that is not known.
std::size_t last_cache_bytes(const std::vector<Cache>& caches);
inline std::size_t last_cache_bytes(const Machine& machine) {
    return last_cache_bytes(machine.caches);
}

/// `root` is where /proc and /sys are looked for; tests give a made-up tree. The processor, the
/// kernel and libc are always those that run. What is unreadable is left empty, never an error.
/// `cpu`: whose kind is described, where there are several (Cpu::kinds); negative: the CPU that
/// pin_to_cpu() chooses.
Machine read_machine(const std::filesystem::path& root = "/", int cpu = -1);

/// The "machine" object of the profile, fingerprint included. Its strings become C comments
/// later, so they hold nothing but letters, digits, blanks and ()@.,:_+/- and at most 200
/// characters.
nlohmann::json to_json(const Machine& machine);

/// 16 hexadecimal digits over what decides copy speed: architecture, processor, data caches,
/// number of CPUs, memory in whole GiB, hypervisor, libc and its thresholds.
/// Kernel build, microcode, governor and free memory are left out: routine updates and other
/// programs change them, and a profile that is stale every week is one that nobody checks. So are
/// the memory modules: they decide, but who is not root may not be able to read them.
std::string fingerprint(const Machine& machine);

/// How a part of one machine compares with that of another.
enum class PartState {
    same,
    decides,      ///< differs, and copies may differ by it: the profile is stale
    harmless,     ///< differs, and the profile is none the worse
    not_recorded, ///< not in the profile: it is older, or whoever made it could not read this
    not_readable, ///< in the profile, but not readable here
};

struct Part {
    std::string name; ///< "cpu.model"
    PartState state;
    std::string recorded, here; ///< empty where not known, and where it is empty
    std::string difference;     ///< "cpu.model: 85 in the profile, 143 here"; empty for the same

    bool operator==(const Part&) const = default;
};

/// Part by part, two "machine" objects, by name. A part of the fingerprint that the recorded object
/// lacks decides unless its fingerprint is the current one; of the others, only what both have is
/// compared. Takes any JSON.
std::vector<Part> compare_machines(const nlohmann::json& recorded_machine,
                                   const nlohmann::json& current_machine);

/// Of these, what decides, a line each: none if the profile fits.
std::vector<std::string> fingerprint_differences(const nlohmann::json& recorded_machine,
                                                 const nlohmann::json& current_machine);

/// What must be readable for `machine` to be told from others, but was not, so that no profile is
/// to be made of it: a sentence that says which file, and what to do; empty where all was. What
/// makes no sense in a file counts alike.
std::string unreadable_part(const Machine& machine);

/// What will spoil measurements here: a sentence each, saying what it is and what to do.
std::vector<std::string> measurement_warnings(const Machine& machine,
                                              const std::filesystem::path& root = "/");

/// Of the "machine" objects of a profile the one that differs from `current` in least, the first of
/// several. Null ones do not count; an empty object where there is none.
nlohmann::json nearest_machine(const std::vector<nlohmann::json>& machines,
                               const nlohmann::json& current);

} // namespace asterope
