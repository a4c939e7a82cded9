/* Keeps a value of 16 bytes in a SIMD register, where no compiler can see through it. */
#ifndef ASTEROPE_VECTOR_REGISTER_H
#define ASTEROPE_VECTOR_REGISTER_H

#define ASTEROPE_KEEP_IN_VECTOR_REGISTER(value) __asm__("" : "+w"(value))

#endif
