// The string instructions: by bytes, and by quadwords as Linux has it.
#include <cstddef>

namespace asterope::peers {

void* copy_rep_movsb(void* destination, const void* source, std::size_t bytes, std::size_t) {
    void* to = destination;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(bytes) : : "memory");
    return destination;
}

/// What Linux does on CPUs whose `rep movsb` is not fast (REP_GOOD without ERMS): quadwords, then
/// what is left of one by bytes. Its buffers are as aligned as they come.
void* copy_rep_movsq(void* destination, const void* source, std::size_t bytes, std::size_t) {
    void* to = destination;
    std::size_t count = bytes / 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(source), "+c"(count) : : "memory");
    count = bytes % 8;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(count) : : "memory");
    return destination;
}

} // namespace asterope::peers
