// A profile describes its machine, and another machine is like it or not.
#include "machine/machine.hpp"

#include "machine/example_machine.hpp"

TEST(MachineJson, StringsCannotBreakOutOfAComment) {
    Machine machine = example();
    const std::string hostile = "  a */ system(\"x\"); /* ?\?/\n\\ \xc3\xa9 \x01%n\r\n ";
    machine.cpu.vendor = machine.cpu.brand = machine.cpu.hypervisor = hostile;
    machine.cpu.features = {hostile};
    machine.memory.type = hostile;
    machine.microcode = machine.huge_pages = machine.kernel = machine.libc = machine.governor =
        hostile;
    machine.caches[0].type = hostile;
    machine.libc_thresholds = {{hostile, 1}};
    const json object = to_json(machine);
    expect_every_string_harmless(object);
    EXPECT_EQ(object["cpu"]["brand"], "a _/ system(_x_)_ /_ __/__ __ __n");
}

TEST(Fingerprint, IgnoresFactsThatRoutineUpdatesAndOtherProgramsChange) {
    Machine machine = example();
    machine.microcode = "0x5003999";
    machine.kernel = "Linux 6.12.1";
    machine.governor = "powersave";
    machine.huge_pages = "always";
    machine.usable_bytes = kGiB;
    machine.memory_bytes -= 100 * kMiB;
    machine.cpu.brand = "another name";
    machine.caches[1].shared_by = 1;
    machine.cpu.kinds = {{"Cortex-A53 r0p4", "0-3"}, {"Cortex-A72 r0p3", "4-5"}};
    const json recorded = to_json(machine), other = to_json(example());
    EXPECT_EQ(recorded["fingerprint"], other["fingerprint"]);
    EXPECT_TRUE(fingerprint_differences(recorded, other).empty());
    EXPECT_EQ(recorded["cpu"]["kinds"][1], (json{{"brand", "Cortex-A72 r0p3"}, {"cpus", "4-5"}}));
    EXPECT_FALSE(other["cpu"].contains("kinds"));
    machine.cpu.kinds.pop_back(); // its CPUs are switched off: their number decides, not the list
    EXPECT_TRUE(fingerprint_differences(recorded, to_json(machine)).empty());
}

// Memory modules decide where both know them, though the fingerprint is without them.
TEST(Fingerprint, FollowsEveryPartThatDecidesCopySpeedAndTheDifferenceIsTold) {
    const std::pair<std::string, void (*)(Machine&)> changes[] = {
        {"cpu.vendor: GenuineIntel in the profile, AuthenticAMD here",
         [](Machine& m) { m.cpu.vendor = "AuthenticAMD"; }},
        {"cpu.family: 6 in the profile, 25 here", [](Machine& m) { m.cpu.family = 25; }},
        {"cpu.model: 85 in the profile, 143 here", [](Machine& m) { m.cpu.model = 143; }},
        {"cpu.stepping: 7 in the profile, 8 here", [](Machine& m) { m.cpu.stepping = 8; }},
        {"cpu.features: avx2 only in the profile, avx512f only here",
         [](Machine& m) { m.cpu.features[1] = "avx512f"; }},
        {"hypervisor: KVMKVMKVM in the profile, none here",
         [](Machine& m) { m.cpu.hypervisor.clear(); }},
        {"cpus: 32 in the profile, 16 here", [](Machine& m) { m.cpus = 16; }},
        {"memory: 64 GiB in the profile, 32 GiB here", [](Machine& m) { m.memory_bytes /= 2; }},
        {"libc: glibc 2.36 in the profile, glibc 2.39 here",
         [](Machine& m) { m.libc = "glibc 2.39"; }},
        {"caches.L1 data: 32 KiB, 8 ways in the profile, 48 KiB, 8 ways here",
         [](Machine& m) { m.caches[0].bytes = 48 * kKiB; }},
        {"caches.L2 unified: 1024 KiB, 16 ways in the profile, 1024 KiB, 20 ways here",
         [](Machine& m) { m.caches[1].ways = 20; }},
        {"caches.L2 unified: 1024 KiB, 16 ways in the profile, missing here",
         [](Machine& m) { m.caches.pop_back(); }},
        {"libc_thresholds.x86_rep_movsb_threshold: 2112 in the profile, 2048 here",
         [](Machine& m) { m.libc_thresholds["x86_rep_movsb_threshold"] = 2048; }},
        {"libc_thresholds.newer: missing in the profile, 4096 here",
         [](Machine& m) { m.libc_thresholds["newer"] = 4096; }},
        {"memory.type: DDR5 in the profile, DDR4 here", [](Machine& m) { m.memory.type = "DDR4"; }},
        {"memory.modules: 8 in the profile, 4 here", [](Machine& m) { m.memory.modules = 4; }},
        {"memory.speed: 4800 MT/s in the profile, 3200 MT/s here",
         [](Machine& m) { m.memory.speed_mts = 3200; }},
        {"memory.channels: 8 in the profile, 4 here", [](Machine& m) { m.memory.channels = 4; }},
        {"memory.edac_channels: 4 in the profile, 2 here",
         [](Machine& m) { m.memory.edac_channels = 2; }},
    };
    Machine before = example();
    before.memory = {"DDR5", 8, 4800, 8, 4};
    for (const auto& [line, change] : changes) {
        Machine machine = before;
        change(machine);
        const json was = to_json(before), is = to_json(machine);
        EXPECT_EQ(was["fingerprint"] == is["fingerprint"], line.starts_with("memory.")) << line;
        EXPECT_EQ(fingerprint_differences(was, is), std::vector{line});
    }
}

TEST(CompareMachines, TellsFactsThatMatterFromOthersAndFromUnknownOnes) {
    Machine other = example();
    other.microcode = "0x1";
    other.governor = "";
    other.cpu.model = 143;
    const json one = to_json(example()), current = to_json(other);
    json older = one; // under the same fingerprint
    older.erase("kernel");
    older.erase("libc");
    json edited = older;
    edited["fingerprint"] = "0123456789abcdef";
    const std::tuple<const char*, const json&, const json&, PartState> cases[] = {
        {"cpu.model", one, current, PartState::decides},
        {"cpu.microcode", one, current, PartState::harmless},
        {"governor", one, current, PartState::not_readable},
        {"governor", current, one, PartState::not_recorded},
        {"libc", one, current, PartState::same},
        {"kernel", older, one, PartState::not_recorded},
        {"libc", older, one, PartState::not_recorded},
        {"libc", edited, one, PartState::decides},
        {"kernel", edited, one, PartState::not_recorded},
    };
    for (const auto& [name, recorded, here, state] : cases) {
        int found = 0;
        for (const Part& part : compare_machines(recorded, here)) {
            const bool differs =
                part.state == PartState::decides || part.state == PartState::harmless;
            EXPECT_EQ(part.difference.empty(), !differs) << part.name;
            if (part.name != name) continue;
            EXPECT_EQ(part.state, state) << name;
            ++found;
        }
        EXPECT_EQ(found, 1) << name;
    }
}

TEST(NearestMachine, IsTheOneThatDiffersInLeast) {
    Machine machine = example();
    const json one = to_json(machine);
    machine.microcode = "0x7";
    const json newer = to_json(machine);
    machine.cpu.model = 143;
    const json another = to_json(machine);
    for (const auto& machines : {std::vector{one, newer, another}, {another, newer, one}}) {
        for (const json& each : machines) EXPECT_EQ(nearest_machine(machines, each), each);
    }
    EXPECT_EQ(nearest_machine({another, nullptr}, one), another);
    EXPECT_EQ(nearest_machine({nullptr}, one), json::object());
    EXPECT_EQ(nearest_machine({}, one), json::object());
}

TEST(FingerprintDifferences, TakeAnyJsonWithoutThrowing) {
    const json here = to_json(example());
    std::vector<std::string> places = {""};
    for (const auto& item : here.items()) places.push_back("/" + item.key());
    for (const auto& item : here["cpu"].items()) places.push_back("/cpu/" + item.key());
    for (const json& odd : {json(nullptr), json(-1), json(1e300), json("\xff\xfe */"),
                            json::binary({1, 2}), json::array({1, "x", json::object()}),
                            json::object({{"bytes", "many"}, {"level", json::array()}})}) {
        for (const std::string& place : places) {
            json recorded = here;
            recorded[json::json_pointer(place)] = odd;
            std::vector<std::string> lines;
            EXPECT_NO_THROW(lines = fingerprint_differences(recorded, here)) << place;
            EXPECT_TRUE(!place.empty() || !lines.empty());
            expect_every_string_harmless(json(lines));
            EXPECT_NO_THROW(fingerprint_differences(here, recorded)) << place;
        }
    }
}
