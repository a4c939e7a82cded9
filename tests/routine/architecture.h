/* Where the check programs have what they must know of the architecture that they are compiled for:
 * #include OF_ARCHITECTURE(header.h). */
#ifndef ASTEROPE_ARCHITECTURE_H
#define ASTEROPE_ARCHITECTURE_H

#define IN_QUOTES(path) #path

/* It would take the slash for a division. */
/* clang-format off */
#if defined(__aarch64__)
#define OF_ARCHITECTURE(header) IN_QUOTES(aarch64/header)
#elif defined(__x86_64__)
#define OF_ARCHITECTURE(header) IN_QUOTES(x86_64/header)
#endif
/* clang-format on */

#endif
