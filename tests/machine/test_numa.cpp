// Nodes of memory on made-up machines, and the policy that the kernel is asked for there.
#include "machine/numa.hpp"

#include <cerrno>
#include <linux/mempolicy.h>

#include "support/unit_test.hpp"

using Lists = std::vector<std::pair<int, std::string>>;

class Numa : public TemporaryFolder {
  protected:
    /// A machine with these nodes' lists of CPUs.
    NumaNodes made_up(const Lists& nodes, const std::string& online, int cpu) {
        std::filesystem::remove_all(folder / "sys");
        put("sys/devices/system/node/online", online + "\n");
        for (const auto& [node, cpus] : nodes) {
            put("sys/devices/system/node/node" + std::to_string(node) + "/cpulist", cpus + "\n");
        }
        return read_numa_nodes(cpu, folder);
    }
};

TEST_F(Numa, binds_to_the_node_of_the_cpu_unless_it_is_interleaved_and_says_so) {
    const Lists two = {{0, "0-3,8"}, {1, "4-7"}}, gap = {{0, "0"}, {2, "1"}, {3, ""}};
    const struct {
        NumaNodes nodes;
        bool interleaved;
        int refused;
        std::string said;
        int mode; ///< -1: nothing was asked for
        std::vector<int> asked;
    } cases[] = {
        {made_up(two, "0-1", 5), false, 0, "node 1 of 2", MPOL_BIND, {1}},
        {made_up(two, "0-1", 8), false, 0, "node 0 of 2", MPOL_BIND, {0}},
        {made_up(two, "0-1", 5), true, 0, "interleaved over 2 nodes", -1, {}},
        {made_up(gap, "0,2-3", 1), false, 0, "node 2 of 3", MPOL_BIND, {2}},
        {made_up(gap, "0,2-3", 1), true, 0, "interleaved over 3 nodes", -1, {}},
        {made_up({{0, "0-7"}}, "0", 5), false, 0, "", -1, {}},
        {made_up({{0, "0-7"}}, "0", 5), true, 0, "", -1, {}},
        {made_up({}, "", 5), false, 0, "", -1, {}},
        {made_up({}, "nonsense", 5), true, 0, "", -1, {}},
        {made_up(two, "0-1", 99), false, 0, "", -1, {}}, // a CPU of no node
        {made_up(two, "0-1", 5),
         false,
         EPERM,
         "node 1 of 2 (where it was touched first: Operation not permitted)",
         MPOL_BIND,
         {1}},
    };
    for (const auto& one : cases) {
        int mode = -1;
        std::vector<int> asked;
        EXPECT_EQ(place_memory(one.nodes, one.interleaved,
                               [&](int wanted, const std::vector<int>& nodes) {
                                   mode = wanted;
                                   asked = nodes;
                                   return one.refused;
                               }),
                  one.said);
        EXPECT_EQ(mode, one.mode) << one.said;
        EXPECT_EQ(asked, one.asked) << one.said;
    }
}

TEST_F(Numa, interleaves_over_all_nodes_or_says_why_not) {
    const struct {
        NumaNodes nodes;
        int refused;
        std::vector<int> asked;
        std::string said; ///< "": it is done
    } cases[] = {
        {made_up({{0, "0-3"}, {2, "4-7"}}, "0,2", 5), 0, {0, 2}, ""},
        {made_up({{0, "0-7"}}, "0", 5), 0, {0}, ""},
        {made_up({{0, "0-3"}, {1, "4-7"}}, "0-1", 5), EPERM, {0, 1}, "(Operation not permitted)"},
        {made_up({}, "", 5), 0, {}, "no NUMA node can be read"},
    };
    for (const auto& one : cases) {
        std::vector<int> asked;
        const std::string said = refusal_of<Failure>([&] {
            interleave_memory(one.nodes, [&](int mode, const std::vector<int>& nodes) {
                EXPECT_EQ(mode, MPOL_INTERLEAVE);
                asked = nodes;
                return one.refused;
            });
        });
        EXPECT_EQ(asked, one.asked);
        EXPECT_TRUE(one.said.empty() ? said.empty() : mentions(said, one.said)) << said;
    }
}

// The kernel knows the numbers of the modes, or says that it may not be asked.
TEST_F(Numa, the_kernel_takes_the_policy_or_refuses_it) {
    const int error = set_memory_policy(MPOL_BIND, read_numa_nodes(0).all);
    EXPECT_TRUE(error == 0 || error == EPERM || error == ENOSYS || error == EINVAL) << error;
    const int refused = set_memory_policy(MPOL_INTERLEAVE, read_numa_nodes(0).all);
    EXPECT_EQ(memory_is_interleaved(), refused == 0);
    set_memory_policy(MPOL_DEFAULT, {});
    EXPECT_FALSE(memory_is_interleaved());
}
