// Parses the tables of the firmware (SMBIOS), and counts the channels in EDAC's folders.
#include "machine/memory_modules.hpp"

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "base/contains.hpp"
#include "machine/system_text.hpp"

namespace asterope {

namespace fs = std::filesystem;

namespace {

constexpr int kMemoryDevice = 17, kEndOfTable = 127;

/// Names by the type's number in a memory device. Copies do not go to flash or to NVDIMMs' other
/// half: those have no name here and do not count as modules.
constexpr struct MemoryType {
    int number;
    std::string_view name;
} kTypes[] = {
    {0x01, ""},       {0x02, ""},       {0x03, "DRAM"},   {0x07, "RAM"},  {0x0f, "SDRAM"},
    {0x12, "DDR"},    {0x13, "DDR2"},   {0x18, "DDR3"},   {0x1a, "DDR4"}, {0x1b, "LPDDR"},
    {0x1c, "LPDDR2"}, {0x1d, "LPDDR3"}, {0x1e, "LPDDR4"}, {0x20, "HBM"},  {0x21, "HBM2"},
    {0x22, "DDR5"},   {0x23, "LPDDR5"}, {0x24, "HBM3"},
};

/// One SMBIOS structure: its formatted area, header included, and the strings behind it.
struct Structure {
    std::string_view area;
    std::vector<std::string_view> strings;

    /// Little-endian, of 1, 2 or 4 bytes; 0 beyond the area's end, where older versions stop.
    std::uint32_t number(std::size_t offset, std::size_t bytes) const {
        if (offset + bytes > area.size()) return 0;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            value |= std::uint32_t{static_cast<unsigned char>(area[offset + i])} << 8 * i;
        }
        return value;
    }
    /// The string whose number, from 1 on, stands there; empty for the number 0.
    std::string_view text(std::size_t offset) const {
        const std::size_t index = number(offset, 1);
        return index == 0 || index > strings.size() ? std::string_view() : strings[index - 1];
    }
    int type() const { return static_cast<int>(number(0, 1)); }
};

/// Takes the first structure off the table; empty where the rest is not a whole one.
std::optional<Structure> take_structure(std::string_view& table) {
    if (table.size() < 4) return std::nullopt;
    const std::size_t length = static_cast<unsigned char>(table[1]);
    if (length < 4 || length > table.size()) return std::nullopt;
    Structure structure{table.substr(0, length), {}};
    std::string_view rest = table.substr(length);
    // Each string has its zero, and one zero more ends them. A structure without strings has two
    // zeros.
    while (!rest.empty() && rest.front() != '\0') {
        const std::size_t end = rest.find('\0');
        if (end == std::string_view::npos) return std::nullopt;
        structure.strings.push_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    const std::size_t zeros = structure.strings.empty() ? 2 : 1;
    if (rest.size() < zeros) return std::nullopt;
    table = rest.substr(zeros);
    return structure;
}

/// In megatransfers a second, 0 where it is not known: at `word`, or where that is full, at `more`.
int speed_at(const Structure& device, std::size_t word, std::size_t more) {
    std::uint32_t speed = device.number(word, 2);
    if (speed == 0xffff) speed = device.number(more, 4);
    return speed <= 1u << 20 ? static_cast<int>(speed) : 0;
}

/// The configured speed; before SMBIOS 2.7, the rated one.
int speed_of(const Structure& device) {
    const int configured = speed_at(device, 0x20, 0x58);
    return configured ? configured : speed_at(device, 0x15, 0x54);
}

/// The beginning of a slot's name, up to the channel's: "P0 CHANNEL A" of AMD's servers,
/// "Controller0-ChannelA" of "Controller0-ChannelA-DIMM0". Empty where it names none: in names
/// such as "A1" and "DIMM_B2" the letter is a channel with one maker and a socket with the next.
std::string channel_in(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    constexpr std::string_view kWord = "channel";
    const std::size_t word = lower.find(kWord);
    if (word == std::string::npos) return {};
    const auto is_word = [&](std::size_t i) {
        return i < lower.size() && std::isalnum(static_cast<unsigned char>(lower[i]));
    };
    std::size_t end = word + kWord.size();
    while (end < lower.size() && !is_word(end)) ++end;
    const std::size_t begin = end;
    while (is_word(end)) ++end;
    return end == begin ? std::string() : lower.substr(0, end);
}

std::string channel_of(const Structure& device) {
    const std::string bank = channel_in(device.text(0x11));
    return bank.empty() ? channel_in(device.text(0x10)) : bank;
}

constexpr std::size_t kMostTables = std::size_t{4} << 20; ///< far beyond what any firmware has

/// The part of EDAC's location that makes the channel. Locations read "channel 1 slot 0", "branch 0
/// channel 1 slot 0" or "csrow 2 channel 1". Empty where they name no channel.
std::string edac_channel(const std::string& location) {
    std::istringstream words(location);
    std::string channel;
    for (std::string layer; words >> layer;) {
        unsigned number = 0;
        if (!(words >> number)) return {};
        if (layer == "branch" || layer == "channel") channel += layer + std::to_string(number);
    }
    return channel.find("channel") == std::string::npos ? std::string() : channel;
}

int read_edac_channels(const fs::path& root) {
    const fs::path controllers = root / "sys/devices/system/edac/mc";
    std::set<std::string> channels;
    for (const std::string& controller : entries_of(controllers)) {
        if (!controller.starts_with("mc")) continue;
        for (const std::string& module : entries_of(controllers / controller)) {
            if (!module.starts_with("dimm") && !module.starts_with("rank")) continue;
            const fs::path folder = controllers / controller / module;
            if (std::atol(read_text(folder / "size").c_str()) <= 0) continue; // MiB
            const std::string channel = edac_channel(read_text(folder / "dimm_location"));
            if (!channel.empty()) channels.insert(controller + channel);
        }
    }
    return static_cast<int>(channels.size());
}

} // namespace

MemoryModules parse_smbios(std::string_view table) {
    MemoryModules memory;
    std::set<std::string> channels;
    while (const std::optional<Structure> device = take_structure(table)) {
        if (device->type() == kEndOfTable) break;
        const bool is_empty = device->number(0x0c, 2) == 0; // no module is plugged in there
        if (device->type() != kMemoryDevice || is_empty) continue;
        const auto number = static_cast<int>(device->number(0x12, 1));
        const MemoryType* type = find_in(kTypes, number, &MemoryType::number);
        if (!type) continue;
        memory.type = type->name;
        ++memory.modules;
        const int speed = speed_of(*device);
        if (speed && (!memory.speed_mts || speed < memory.speed_mts)) memory.speed_mts = speed;
        channels.insert(channel_of(*device));
    }
    if (!channels.count("")) memory.channels = static_cast<int>(channels.size());
    return memory;
}

MemoryModules read_memory_modules(const fs::path& root) {
    MemoryModules memory =
        parse_smbios(read_text(root / "sys/firmware/dmi/tables/DMI", kMostTables));
    memory.edac_channels = read_edac_channels(root);
    return memory;
}

} // namespace asterope
