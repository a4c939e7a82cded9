// What a profile says of its machine, and whether another one is like it.
#include "machine/machine.hpp"

#include "machine/example_machine.hpp"

using namespace asterope;
using nlohmann::json;

TEST(MachineJson, HasTheMembersOfTheProfileFormat) {
    const json machine = to_json(example());
    EXPECT_EQ(machine["caches"][0], (json{{"level", 1},
                                          {"type", "data"},
                                          {"bytes", 32768},
                                          {"line_bytes", 64},
                                          {"ways", 8},
                                          {"shared_by", 2}}));
    EXPECT_EQ(machine["cpu"]["brand"], example().cpu.brand);
    EXPECT_EQ(machine["libc_thresholds"]["x86_rep_movsb_threshold"], 0x840);
    EXPECT_EQ(machine["fingerprint"], fingerprint(example()));
    EXPECT_FALSE(machine.contains("memory")) << "nothing of it is known";
}

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

TEST(Fingerprint, IgnoresWhatRoutineUpdatesAndOtherProgramsChange) {
    Machine machine = example();
    machine.microcode = "0x5003999";
    machine.kernel = "Linux 6.12.1";
    machine.governor = "powersave";
    machine.huge_pages = "always";
    machine.usable_bytes = kGiB;
    machine.memory_bytes -= 100 * kMiB;
    machine.cpu.brand = "another name";
    machine.caches[1].shared_by = 1;
    EXPECT_EQ(fingerprint(machine), fingerprint(example()));
    EXPECT_TRUE(fingerprint_differences(to_json(machine), to_json(example())).empty());
}

TEST(Fingerprint, FollowsEveryPartThatDecidesCopySpeed) {
    const std::pair<const char*, void (*)(Machine&)> changes[] = {
        {"cpu.vendor: ", [](Machine& m) { m.cpu.vendor = "AuthenticAMD"; }},
        {"cpu.family: ", [](Machine& m) { m.cpu.family = 25; }},
        {"cpu.model: ", [](Machine& m) { m.cpu.model = 143; }},
        {"cpu.stepping: ", [](Machine& m) { m.cpu.stepping = 8; }},
        {"cpu.features: ", [](Machine& m) { m.cpu.features.push_back("avx512f"); }},
        {"hypervisor: ", [](Machine& m) { m.cpu.hypervisor.clear(); }},
        {"cpus: ", [](Machine& m) { m.cpus = 16; }},
        {"memory: ", [](Machine& m) { m.memory_bytes /= 2; }},
        {"libc: ", [](Machine& m) { m.libc = "glibc 2.39"; }},
        {"caches.L1 data: ", [](Machine& m) { m.caches[0].bytes = 49152; }},
        {"caches.L2 unified: ", [](Machine& m) { m.caches[1].ways = 20; }},
        {"caches.L3 unified: ",
         [](Machine& m) {
             m.caches.push_back({3, "unified", 32 * kMiB, 64, 16, 2});
         }},
        {"libc_thresholds.x86_rep_movsb_threshold: ",
         [](Machine& m) { m.libc_thresholds["x86_rep_movsb_threshold"] = 2048; }},
        {"libc_thresholds.x86_non_temporal_threshold: ",
         [](Machine& m) { m.libc_thresholds.erase("x86_non_temporal_threshold"); }},
    };
    for (const auto& [part, change] : changes) {
        Machine machine = example();
        change(machine);
        EXPECT_NE(fingerprint(machine), fingerprint(example())) << part;
        const auto differences = fingerprint_differences(to_json(example()), to_json(machine));
        ASSERT_EQ(differences.size(), 1u) << part;
        EXPECT_EQ(differences[0].rfind(part, 0), 0u) << differences[0];
    }
}

TEST(Fingerprint, MemoryModulesThatBothKnowDecideAllTheSame) {
    Machine machine = example();
    machine.memory = {"DDR5", 8, 4800, 8, 4};
    const json before = to_json(machine);
    const std::pair<const char*, void (*)(MemoryModules&)> changes[] = {
        {"memory.type: DDR5 in the profile, DDR4 here", [](MemoryModules& m) { m.type = "DDR4"; }},
        {"memory.modules: 8 in the profile, 4 here", [](MemoryModules& m) { m.modules = 4; }},
        {"memory.speed: 4800 MT/s in the profile, 3200 MT/s here",
         [](MemoryModules& m) { m.speed_mts = 3200; }},
        {"memory.channels: 8 in the profile, 4 here", [](MemoryModules& m) { m.channels = 4; }},
        {"memory.edac_channels: 4 in the profile, 2 here",
         [](MemoryModules& m) { m.edac_channels = 2; }},
    };
    for (const auto& [line, change] : changes) {
        Machine changed = machine;
        change(changed.memory);
        EXPECT_EQ(fingerprint_differences(before, to_json(changed)),
                  std::vector<std::string>{line});
    }
}

TEST(CompareMachines, TellsWhatMattersFromWhatDoesNotAndWhatIsNotKnown) {
    Machine other = example();
    other.kernel = "Linux 6.12.1";
    other.microcode = "0x1";
    other.governor = "";
    other.cpu.model = 143;
    const json one = to_json(example()), current = to_json(other);
    json older = one; // under the same fingerprint
    older["cpu"].erase("microcode");
    older.erase("kernel");
    older.erase("libc");
    json edited = older;
    edited["fingerprint"] = "0123456789abcdef";
    const struct {
        const char* name;
        const json &recorded, &here;
        PartState state;
    } cases[] = {
        {"cpu.model", one, current, PartState::decides},
        {"kernel", one, current, PartState::harmless},
        {"cpu.microcode", one, current, PartState::harmless},
        {"governor", one, current, PartState::not_readable},
        {"governor", current, one, PartState::not_recorded},
        {"libc", one, current, PartState::same},
        {"cpu.microcode", older, one, PartState::not_recorded},
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

TEST(FingerprintDifferences, SayBothValues) {
    Machine here = example();
    here.cpu.model = 143;
    here.cpu.features = {"avx", "avx512f", "erms", "sse2"};
    here.cpu.hypervisor.clear();
    here.caches[1].bytes = 2 * kMiB;
    here.memory_bytes = 32 * kGiB;
    const std::vector<std::string> expected = {
        "caches.L2 unified: 1024 KiB, 16 ways in the profile, 2048 KiB, 16 ways here",
        "cpu.features: avx2 only in the profile, avx512f only here",
        "cpu.model: 85 in the profile, 143 here",
        "hypervisor: KVMKVMKVM in the profile, none here",
        "memory: 64 GiB in the profile, 32 GiB here",
    };
    EXPECT_EQ(fingerprint_differences(to_json(example()), to_json(here)), expected);
}

TEST(FingerprintDifferences, TakeAnyJsonWithoutThrowing) {
    const json here = to_json(example());
    const json odd[] = {nullptr,
                        true,
                        -1,
                        1e300,
                        "text",
                        "\xff\xfe */",
                        json::array(),
                        json::array({1, "x", json::object()}),
                        json::object({{"bytes", "many"}, {"level", json::array()}}),
                        json::binary({1, 2}),
                        json(json::value_t::discarded)};
    const auto expect_taken = [&](const json::json_pointer& place, const json& value) {
        json recorded = here;
        recorded[place] = value;
        std::vector<std::string> lines;
        EXPECT_NO_THROW(lines = fingerprint_differences(recorded, here)) << place;
        expect_every_string_harmless(json(lines));
        EXPECT_NO_THROW(fingerprint_differences(here, recorded)) << place;
    };
    for (const json& value : odd) {
        EXPECT_FALSE(fingerprint_differences(value, here).empty());
        for (const auto& item : here.items()) {
            const json::json_pointer place("/" + item.key());
            expect_taken(place, value);
            expect_taken(place, json::array({value}));
            expect_taken(place, json::object({{"x", value}}));
        }
        for (const auto& item : here["cpu"].items())
            expect_taken(json::json_pointer("/cpu/" + item.key()), value);
    }
}
