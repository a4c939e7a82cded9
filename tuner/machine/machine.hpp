// Describes the machine a profile holds for, and says when another one is too different.
#pragma once

#include "machine/cpu.hpp"
#include "machine/libc.hpp"
#include "machine/memory_modules.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace asterope {

/// Parts that could not be read are empty or 0.
struct Machine {
    Cpu cpu;
    std::string microcode;
    std::vector<Cache> caches; ///< that hold data, nearest first; of CPU 0 where all are alike
    int cpus = 0;              ///< Logical CPUs online, even those that this process may not use.
    std::size_t memory_bytes = 0;
    /// The memory that the buffers may take. It is the least of the available memory, of the rest
    /// that the cgroups of this process allow, and of its own limits (ulimit -m, -v, -d).
    std::size_t usable_bytes = 0;
    MemoryModules memory;
    std::size_t page_bytes = 0;
    std::string huge_pages; ///< transparent huge pages: "always", "madvise" or "never"
    /// The same of those below 2 MiB: "never", or "64 KiB always, 128 KiB madvise".
    std::string smaller_huge_pages;
    std::string kernel;             ///< "Linux 6.1.0"
    std::string libc;               ///< "glibc 2.36", "musl" or "unknown"
    LibcThresholds libc_thresholds; ///< sizes at which libc's memcpy changes its way of copying
    std::string governor;           ///< CPU 0's frequency governor
    /// The parts that could not be looked at, with the reasons. Keys are the parts' names, as in
    /// compare_machines() up to the first dot. The facts about such a part are a guess, or empty.
    std::map<std::string, std::string> unseen;
};

/// The memory that may be taken, in bytes: Machine::usable_bytes, which may be 0. 1 GiB where the
/// system does not say how much memory there is.
std::size_t usable_memory(const Machine& machine);

/// The bytes of the last level; 0 where they are not known.
std::size_t last_cache_bytes(const std::vector<Cache>& caches);
inline std::size_t last_cache_bytes(const Machine& machine) {
    return last_cache_bytes(machine.caches);
}

/// Looks for /proc and /sys in `root`; tests give a made-up tree. The processor, the kernel and
/// libc are always those that run. Unreadable parts are left empty, never an error. `cpu` decides
/// which kind is described, where there are several (Cpu::kinds); negative: the CPU that
/// pin_to_cpu() chooses.
Machine read_machine(const std::filesystem::path& root = "/", int cpu = -1);

/// The "machine" object of the profile. Its strings become C comments later, so they hold nothing
/// but letters, digits, blanks and ()@.,:_+/- and at most 200 characters.
///
/// Its fingerprint is 16 hexadecimal digits over the facts that decide copy speed. They are
/// architecture, processor, data caches, number of CPUs, memory in whole GiB, hypervisor, libc and
/// its thresholds. Kernel build, microcode, governor and free memory are left out: routine updates
/// and other programs change them. A user does not check a profile that is stale every week. The
/// memory modules decide, but are left out, too: only root may always read them.
nlohmann::json to_json(const Machine& machine);

/// How a part of one machine compares with that of another.
enum class PartState {
    same,
    decides,      ///< It differs. Copies may differ by it: the profile is stale.
    harmless,     ///< It differs. The profile is as good as before.
    not_recorded, ///< The profile lacks it: that is older, or its maker could not read this.
    not_readable, ///< The profile has it. It is not readable here.
};

struct Part {
    std::string name; ///< "cpu.model"
    PartState state;
    std::string recorded, here; ///< empty where not known, and where it is empty
    std::string difference;     ///< "cpu.model: 85 in the profile, 143 here"; empty for the same

    bool operator==(const Part&) const = default;
};

/// Part by part, two "machine" objects, by name. A part of the fingerprint that the recorded object
/// lacks decides unless its fingerprint is the current one. Other parts are compared where both
/// objects have them. Takes any JSON.
std::vector<Part> compare_machines(const nlohmann::json& recorded_machine,
                                   const nlohmann::json& current_machine);

/// The deciding differences among these, a line each: empty if the profile fits.
std::vector<std::string> fingerprint_differences(const nlohmann::json& recorded_machine,
                                                 const nlohmann::json& current_machine);

/// Returns a sentence about a part that must be readable to tell `machine` from others, but was
/// not. No profile is to be made of such a machine. The sentence has the file and the remedy.
/// Empty where all could be read. Contents without sense count as unreadable.
std::string unreadable_part(const Machine& machine);

/// Warnings of all that will spoil measurements here: a sentence each, with the cause and the
/// remedy.
std::vector<std::string> measurement_warnings(const Machine& machine,
                                              const std::filesystem::path& root = "/");

/// The one of a profile's "machine" objects that differs from `current` in least, the first of
/// several. Null ones do not count; an empty object where all are null.
nlohmann::json nearest_machine(const std::vector<nlohmann::json>& machines,
                               const nlohmann::json& current);

} // namespace asterope
