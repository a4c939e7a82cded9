// Several nodes of memory: by Linux's set_mempolicy, which needs no library.
#include "machine/numa.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "machine/system_text.hpp"

namespace asterope {

namespace {
constexpr int kBind = 2, kInterleave = 3; // as in <linux/mempolicy.h>
constexpr std::size_t kMostNodes = 1024;
} // namespace

NumaNodes read_numa_nodes(int cpu, const std::filesystem::path& root) {
    const std::filesystem::path folder = root / "sys/devices/system/node";
    NumaNodes nodes{numbers_in(read_text(folder / "online")), std::nullopt};
    for (const int node : nodes.all) {
        const auto list = folder / ("node" + std::to_string(node)) / "cpulist";
        if (contains(numbers_in(read_text(list)), cpu)) nodes.own = node;
    }
    return nodes;
}

bool memory_is_interleaved() {
    int mode = 0;
    return syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 && mode == kInterleave;
}

int set_memory_policy(int mode, const std::vector<int>& nodes) {
    constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
    std::array<unsigned long, kMostNodes / kBits> mask{};
    for (const int node : nodes) {
        const auto bit = static_cast<std::size_t>(node);
        if (bit < kMostNodes) mask[bit / kBits] |= 1ul << bit % kBits;
    }
    return syscall(SYS_set_mempolicy, mode, mask.data(), kMostNodes + 1) == 0 ? 0 : errno;
}

void interleave_memory(const NumaNodes& nodes, const SetMemoryPolicy& set) {
    if (nodes.all.empty()) {
        throw Failure("--interleave: no NUMA node can be read below /sys/devices/system/node: "
                      "mount /sys, or leave it out");
    }
    const int refused = set(kInterleave, nodes.all);
    if (refused == 0) return;
    throw Failure(std::string("--interleave: the kernel puts no memory on NUMA nodes in turn (") +
                  std::strerror(refused) + "): leave it out");
}

std::string place_memory(const NumaNodes& nodes, bool interleaved, const SetMemoryPolicy& set) {
    if (nodes.all.size() < 2 || (!interleaved && !nodes.own)) return "";
    const std::string count = std::to_string(nodes.all.size());
    if (interleaved) return "interleaved over " + count + " nodes";
    const int refused = set(kBind, {*nodes.own});
    const std::string words = "node " + std::to_string(*nodes.own) + " of " + count;
    if (refused == 0) return words;
    return words + " (where it was touched first: " + std::strerror(refused) + ")";
}

} // namespace asterope
