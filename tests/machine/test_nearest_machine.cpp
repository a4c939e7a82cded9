// A profile is compared with the machine among its own that is nearest to this one.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "machine/machine.hpp"

using namespace asterope;
using nlohmann::json;

TEST(NearestMachine, IsTheOneThatDiffersInLeast) {
    Machine machine;
    machine.cpu.vendor = "GenuineIntel";
    machine.memory_bytes = std::size_t{64} << 30;
    const json one = to_json(machine);
    machine.microcode = "0x7";
    const json newer = to_json(machine);
    machine.cpu.model = 85;
    const json another = to_json(machine);
    for (const auto& machines : {std::vector{one, newer, another}, {another, newer, one}}) {
        for (const json& each : machines) EXPECT_EQ(nearest_machine(machines, each), each);
    }
    EXPECT_EQ(nearest_machine({another, nullptr}, one), another);
    EXPECT_EQ(nearest_machine({nullptr}, one), json::object());
    EXPECT_EQ(nearest_machine({}, one), json::object());
}
