// The memory modules: how many, how fast, over how many channels, as far as the system tells.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace asterope {

/// Fields that could not be read are empty or 0. The firmware's tables (SMBIOS) are for root alone,
/// and most virtual machines have tables that say little. Linux's EDAC drivers tell all users, but
/// only where one exists for the memory controller. The two count channels each in a way of its
/// own, so they are kept apart: a profile that root made is compared with a user's readings.
struct MemoryModules {
    std::string type;      ///< "DDR5". SMBIOS tells this and the next three.
    int modules = 0;       ///< Modules that are plugged in.
    int speed_mts = 0;     ///< The slowest one's, as configured, in megatransfers a second.
    int channels = 0;      ///< Channels in use, where the names of the slots speak of channels.
    int edac_channels = 0; ///< The same by EDAC.

    bool operator==(const MemoryModules&) const = default;
};

/// Reads /sys/firmware/dmi/tables/DMI and /sys/devices/system/edac below `root`. Never an error:
/// what makes no sense is not known.
MemoryModules read_memory_modules(const std::filesystem::path& root = "/");

/// The first four from SMBIOS structures, back to back, of type 17, "Memory Device" (DMTF DSP0134,
/// 7.18). Any bytes may come in.
MemoryModules parse_smbios(std::string_view table);

} // namespace asterope
