// The copy of the textbook: a byte at a time.
#include <cstddef>

namespace asterope::peers {

void* copy_byte_by_byte(void* destination, const void* source, std::size_t bytes, std::size_t) {
    // volatile: compilers know this loop and would put wider moves or a call of memcpy in its place
    auto* to = static_cast<volatile char*>(destination);
    const auto* from = static_cast<const char*>(source);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
    return destination;
}

} // namespace asterope::peers
