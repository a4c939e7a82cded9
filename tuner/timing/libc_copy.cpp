// libc's memcpy and memmove, as the application's own calls would reach them.
#include "timing/libc_copy.hpp"

#include <cstring>

namespace asterope {

CopyFunction libc_copy() {
    // volatile: a compiler that knows that this is memcpy could expand or drop the calls
    static void* (*volatile copy)(void*, const void*, std::size_t) = std::memcpy;
    // by way of void*: the extra argument of CopyFunction is one that libc's never looks at
    return reinterpret_cast<CopyFunction>(reinterpret_cast<void*>(copy));
}

CopyFunction libc_move() {
    static void* (*volatile move)(void*, const void*, std::size_t) = std::memmove;
    return reinterpret_cast<CopyFunction>(reinterpret_cast<void*>(move));
}

} // namespace asterope
