// A short name for a long text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace asterope {

/// 16 hexadecimal digits: FNV-1a, 64 bits. No cryptographic hash: it guards against a changed
/// machine or space, not against anybody.
inline std::string text_hash(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    return digits;
}

} // namespace asterope
