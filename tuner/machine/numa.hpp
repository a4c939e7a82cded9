// Several nodes of memory: which one a CPU has, and on which one new memory shall lie.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace asterope {

struct NumaNodes {
    std::vector<int> all;   ///< online; empty where the system does not tell
    std::optional<int> own; ///< of the CPU
};

/// `root` is where /sys is looked for; tests give a made-up tree.
NumaNodes read_numa_nodes(int cpu, const std::filesystem::path& root = "/");

/// Tells the kernel where this thread's memory, and that of threads and processes it starts, shall
/// lie. Returns 0, or the error's number.
using SetMemoryPolicy = std::function<int(int mode, const std::vector<int>& nodes)>;
int set_memory_policy(int mode, const std::vector<int>& nodes);

/// Whether this process has its memory on several nodes in turn, page by page: see below.
bool memory_is_interleaved();

/// Puts new memory on all nodes in turn, as `numactl -i all` starts a program; with one node, on
/// that. Throws Failure where the kernel knows no nodes or refuses.
void interleave_memory(const NumaNodes& nodes, const SetMemoryPolicy& set = set_memory_policy);

/// Puts memory that is allocated from now on on the CPU's own node, or `interleaved` on all; memory
/// that exists stays. Returns the profile's words about it: "node 1 of 2" or "interleaved over 2
/// nodes". Where the kernel refuses, it says so: memory then lies where it is touched first. That
/// is the own node as long as that has some. Returns "" for a machine of one node, which leaves no
/// choice.
std::string place_memory(const NumaNodes& nodes, bool interleaved,
                         const SetMemoryPolicy& set = set_memory_policy);

} // namespace asterope
