// The loads and stores of the reader and the writer, pinned so that every compiler emits the same.
#include "timing/buffer_access.hpp"

#include <cstring>
#include <vector_register.h>

namespace asterope {

namespace {

using Sum = std::uint64_t __attribute__((vector_size(16)));

/// One load of 8 bytes. Without the assembly, gcc turns a sum of such words into 16-byte loads at
/// -O3 but not at -O2, and clang does at both. The width decides where a copy's last stores are to
/// be forwarded to its reader. The empty assembly pins it: neither compiler can merge two values
/// that it cannot see through.
///
/// The sum is kept in vector registers, on x86 in instructions without VEX prefix. Much code
/// consists of such instructions. They suffer where a copy left upper register halves dirty (here
/// to 7 bytes a cycle). In general registers the reader would be as fast, but would not notice
/// that.
inline Sum load(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    Sum value = {word, 0};
    ASTEROPE_KEEP_IN_VECTOR_REGISTER(value);
    return value;
}

} // namespace

std::uint64_t read_copy(const char* at, std::size_t bytes) {
    // Four sums: one would make each word wait for the last one's addition, 8 bytes a cycle, and
    // large copies would drown in their readers. These run at the speed of the loads, about 20
    // bytes a cycle from L2, beyond what copies of 64 KiB and more reach.
    Sum a = {}, b = {}, c = {}, d = {};
    for (; bytes >= 32; at += 32, bytes -= 32) {
        a += load(at);
        b += load(at + 8);
        c += load(at + 16);
        d += load(at + 24);
    }
    for (; bytes >= 8; at += 8, bytes -= 8) a += load(at);
    std::uint64_t rest = 0;
    for (; bytes > 0; ++at, --bytes) rest += static_cast<unsigned char>(*at);
    a += b + c + d;
    return a[0] + rest;
}

std::uint64_t read_end(const char* at, std::size_t bytes) {
    if (bytes < sizeof(std::uint64_t)) {
        return bytes ? static_cast<unsigned char>(at[bytes - 1]) : 0;
    }
    std::uint64_t word;
    std::memcpy(&word, at + bytes - sizeof word, sizeof word);
    return word;
}

void write_source(char* at, std::size_t bytes, std::uint64_t value) {
    for (; bytes >= 8; at += 8, bytes -= 8, ++value) {
        std::uint64_t word = value;
        __asm__("" : "+r"(word)); // One store of 8 bytes in every compiler.
        std::memcpy(at, &word, sizeof word);
    }
    std::memcpy(at, &value, bytes);
}

} // namespace asterope
