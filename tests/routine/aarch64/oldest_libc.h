/* The first glibc of AArch64, whose functions programs as old ask for; for preload_check. */
#ifndef ASTEROPE_OLDEST_LIBC_H
#define ASTEROPE_OLDEST_LIBC_H

#define OLDEST_LIBC "GLIBC_2.17"

#endif
