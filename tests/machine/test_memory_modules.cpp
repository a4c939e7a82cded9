// Memory modules: made-up firmware tables and EDAC trees, and garbage in their place.
#include "machine/memory_modules.hpp"

#include <random>

#include "support/unit_test.hpp"

namespace {

/// A memory device as SMBIOS 3.3 has it, 0x5c bytes long.
struct Device {
    int size_mib = 16384, type = 0x22, speed = 5600, configured = 4800;
    std::string locator = "DIMM 0", bank = "P0 CHANNEL A";
    std::size_t length = 0x5c;

    std::string bytes() const {
        std::string area(length, '\0');
        const auto put = [&](std::size_t offset, unsigned value, std::size_t count) {
            for (std::size_t i = 0; i < count && offset + i < area.size(); ++i) {
                area[offset + i] = static_cast<char>(value >> 8 * i);
            }
        };
        put(0x00, 17, 1);
        put(0x01, static_cast<unsigned>(length), 1);
        put(0x0c, size_mib < 0x7fff ? static_cast<unsigned>(size_mib) : 0x7fffu, 2);
        put(0x1c, static_cast<unsigned>(size_mib), 4);
        put(0x10, 1, 1);
        put(0x11, 2, 1);
        put(0x12, static_cast<unsigned>(type), 1);
        put(0x15, speed > 0xfffe ? 0xffffu : static_cast<unsigned>(speed), 2);
        put(0x54, static_cast<unsigned>(speed), 4);
        put(0x20, configured > 0xfffe ? 0xffffu : static_cast<unsigned>(configured), 2);
        put(0x58, static_cast<unsigned>(configured), 4);
        return area + locator + '\0' + bank + '\0' + '\0';
    }
};

/// A structure of another type, without strings.
std::string other(int type) {
    return {static_cast<char>(type), 6, 1, 0, 'x', 'y', 0, 0};
}

const std::string kEnd = {127, 4, 2, 0, 0, 0};

MemoryModules modules(std::string type, int count, int speed, int channels) {
    return {std::move(type), count, speed, channels, 0};
}

class Edac : public TemporaryFolder {
  protected:
    void put_module(const std::string& path, const std::string& location, const std::string& size) {
        const std::string module = "sys/devices/system/edac/mc/" + path;
        put(module + "/dimm_location", location);
        put(module + "/size", size);
    }
    int channels() const { return read_memory_modules(folder).edac_channels; }
};

} // namespace

TEST(Smbios, CountsModulesAndChannelsAndTakesTheLeastConfiguredSpeedThatIsKnown) {
    const Device a, b{.bank = "P0 CHANNEL B"}, c{.bank = "P1 CHANNEL A"},
        empty{.size_mib = 0, .bank = "P1 CHANNEL B"};
    const std::string table =
        other(1) + a.bytes() + other(0) + b.bytes() + a.bytes() + c.bytes() + empty.bytes() + kEnd;
    EXPECT_EQ(parse_smbios(table), modules("DDR5", 4, 4800, 3));
    const Device fast, slow{.configured = 4400}, unknown{.speed = 0, .configured = 0};
    EXPECT_EQ(parse_smbios(fast.bytes() + slow.bytes()).speed_mts, 4400);
    EXPECT_EQ(parse_smbios(slow.bytes() + fast.bytes()).speed_mts, 4400);
    EXPECT_EQ(parse_smbios(fast.bytes() + unknown.bytes()).speed_mts, 4800);
}

TEST(Smbios, OlderTablesHaveLessLargeFiguresStandFurtherBehindAndOtherMemoryIsNone) {
    const std::pair<Device, MemoryModules> cases[] = {
        {{.type = 0x18, .speed = 1600, .length = 0x1c}, modules("DDR3", 1, 1600, 1)}, // 2.3
        {{.type = 0x18, .speed = 1600, .length = 0x15}, modules("DDR3", 1, 0, 1)},
        {{.size_mib = 128 << 10, .configured = 70000}, modules("DDR5", 1, 70000, 1)},
        {{.type = 0x09}, {}}, // flash
        {{.type = 0x1f}, {}}, // an NVDIMM's other half
    };
    for (const auto& [device, expected] : cases) EXPECT_EQ(parse_smbios(device.bytes()), expected);
    EXPECT_EQ(parse_smbios(kEnd + Device{}.bytes()), MemoryModules{}) << "behind the end";
}

TEST(Smbios, ChannelsCountOnlyWhereEverySlotNamesOne) {
    const auto channels = [](const std::string& locator, const std::string& bank) {
        const Device first, second{.locator = locator, .bank = bank};
        return parse_smbios(first.bytes() + second.bytes()).channels;
    };
    EXPECT_EQ(channels("DIMM 1", "P0 CHANNEL A"), 1);
    EXPECT_EQ(channels("DIMM 0", "P0 CHANNEL B"), 2);
    EXPECT_EQ(channels("Controller1-ChannelA-DIMM0", "BANK 0"), 2);
    EXPECT_EQ(channels("CPU1_DIMM_B1", "NODE 1 CHANNEL 1 DIMM 0"), 2);
    EXPECT_EQ(channels("DIMM_B1", "BANK 0"), 0);
    EXPECT_EQ(channels("A2", ""), 0);
    EXPECT_EQ(channels("", ""), 0);
    EXPECT_EQ(channels("Channel", "channel -"), 0);
}

TEST(Smbios, GarbageIsNothingOrAtLeastNoCrash) {
    EXPECT_EQ(parse_smbios(""), MemoryModules{});
    EXPECT_EQ(parse_smbios(std::string(1000, '\0')), MemoryModules{});
    EXPECT_EQ(parse_smbios(std::string(1000, '\xff')), MemoryModules{});
    std::mt19937 random(7);
    const std::string one = Device{}.bytes(), good = one + one + kEnd;
    EXPECT_EQ(parse_smbios(good.substr(0, 2 * one.size() - 1)).modules, 1);
    for (int i = 0; i < 20000; ++i) {
        std::string bad = good;
        for (int change = 0; change < 3; ++change) {
            bad[random() % bad.size()] = static_cast<char>(random());
        }
        bad.resize(random() % (bad.size() + 1)); // and torn
        const MemoryModules memory = parse_smbios(bad);
        EXPECT_LE(memory.modules, 2);
        EXPECT_GE(memory.speed_mts, 0);
    }
}

TEST_F(Edac, CountsChannelsInUseWhereRowsAreNoneAndBranchesHaveTheirOwn) {
    put_module("mc0/dimm0", "channel 0 slot 0 \n", "16384\n");
    put_module("mc0/dimm1", "channel 0 slot 1 \n", "16384\n");
    put_module("mc0/dimm3", "channel 1 slot 0 \n", "16384\n");
    put_module("mc0/dimm6", "channel 2 slot 0 \n", "0\n");
    put_module("mc1/dimm0", "channel 0 slot 0 \n", "16384\n");
    EXPECT_EQ(channels(), 3);
    put_module("mc2/rank0", "csrow 0 channel 0 \n", "8192");
    put_module("mc2/rank2", "csrow 1 channel 0 \n", "8192");
    EXPECT_EQ(channels(), 4);
    put_module("mc2/rank4", "branch 0 channel 0 slot 0 \n", "8192");
    put_module("mc2/rank5", "branch 1 channel 0 slot 0 \n", "8192");
    put("sys/firmware/dmi/tables/DMI", Device{}.bytes() + kEnd);
    EXPECT_EQ(read_memory_modules(folder), (MemoryModules{"DDR5", 1, 4800, 1, 6}));
}

TEST_F(Edac, GarbageIsNotKnown) {
    put_module("mc0/dimm0", "\xff channel", "many");
    put_module("mc0/dimm1", "channel x slot 0", "8192");
    put_module("mc0/dimm2", "slot 0", "8192");
    put_module("mc0/dimm3", "", "8192");
    put_module("mc0/power", "channel 0", "8192");
    put_module("other/dimm0", "channel 0", "8192");
    put("sys/devices/system/edac/mc/mc0/dimm4/size", "8192");
    put("sys/devices/system/edac/mc/mc0/dimm4/dimm_location/file", ""); // it is a folder
    put("sys/firmware/dmi/tables/DMI/file", "");
    EXPECT_EQ(read_memory_modules(folder), MemoryModules{});
    EXPECT_EQ(read_memory_modules(folder / "not there"), MemoryModules{});
}
