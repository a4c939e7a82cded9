// The memory modules: how many, how fast, over how many channels, as far as the system tells.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace asterope {

/// What could not be read is empty or 0. The firmware's tables (SMBIOS) are for root alone, and
/// most virtual machines have none that say much; Linux's EDAC drivers tell everybody, but only
/// where there is one for the memory controller. The two count channels each in a way of its own,
/// so they are kept apart: a profile that root made is compared with what a user reads.
struct MemoryModules {
    std::string type;      ///< "DDR5"; SMBIOS, as are the next three
    int modules = 0;       ///< that are plugged in
    int speed_mts = 0;     ///< of the slowest, as configured, in megatransfers a second
    int channels = 0;      ///< in use; where the names of the slots speak of channels
    int edac_channels = 0; ///< in use, by EDAC

    bool operator==(const MemoryModules&) const = default;
};

/// Reads /sys/firmware/dmi/tables/DMI and /sys/devices/system/edac below `root`. Never an error:
/// what makes no sense is not known.
MemoryModules read_memory_modules(const std::filesystem::path& root = "/");

/// The first four from SMBIOS structures, back to back, of type 17, "Memory Device" (DMTF DSP0134,
/// 7.18). Any bytes may come in.
MemoryModules parse_smbios(std::string_view table);

} // namespace asterope
