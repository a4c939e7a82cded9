// The string instructions: alone by bytes, and as Linux has them.
#include <cstddef>

namespace asterope::peers {

void* copy_rep_movsb(void* destination, const void* source, std::size_t bytes, std::size_t) {
    void* to = destination;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(bytes) : : "memory");
    return destination;
}

/// Linux copies so on CPUs whose `rep movsb` is not fast (REP_GOOD without ERMS): quadwords, then
/// the rest by bytes. It does not align its buffers.
void* copy_rep_movsq(void* destination, const void* source, std::size_t bytes, std::size_t) {
    void* to = destination;
    std::size_t count = bytes / 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(source), "+c"(count) : : "memory");
    count = bytes % 8;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(count) : : "memory");
    return destination;
}

/// read() and write() copy so where `rep movsb` is fast (arch/x86/lib/copy_user_64.S: ERMS). From
/// 64 bytes on it is `rep movsb`, below that quadwords and then bytes, one a turn.
void* copy_user(void* destination, const void* source, std::size_t bytes, std::size_t) {
    void* to = destination;
    if (bytes >= 64) return copy_rep_movsb(destination, source, bytes, 0);
    std::size_t carried;
    __asm__ volatile("jmp 2f\n"
                     "1: mov (%1), %3; mov %3, (%0); add $8, %1; add $8, %0; sub $8, %2\n"
                     "2: cmp $8, %2; jae 1b\n"
                     "test %2, %2; je 4f\n"
                     "3: movb (%1), %b3; movb %b3, (%0); inc %1; inc %0; dec %2; jne 3b\n"
                     "4:"
                     : "+r"(to), "+r"(source), "+r"(bytes), "=&q"(carried)
                     :
                     : "memory", "cc");
    return destination;
}

} // namespace asterope::peers
