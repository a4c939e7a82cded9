// The copies of libraries that were found when the build was configured.
#pragma once

#include <string>
#include <vector>

#include "bench/peers/peers.hpp"

namespace asterope::peers {

/// A peer and the CPU feature without which it must not be called; "" for none.
struct KnownPeer {
    Peer peer;
    std::string needs;
};

/// A function with memcpy's arguments. By way of void*: the extra argument of CopyFunction is one
/// that it never looks at.
inline CopyFunction as_copy(void* (*function)(void*, const void*, std::size_t)) {
    return reinterpret_cast<CopyFunction>(reinterpret_cast<void*>(function));
}

std::vector<KnownPeer> packaged_peers();

/// Those that the build went without.
std::vector<MissingPeer> missing_packages();

} // namespace asterope::peers
