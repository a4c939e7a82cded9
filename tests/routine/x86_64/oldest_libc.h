/* The first glibc of x86-64, whose functions programs as old ask for; for preload_check. */
#ifndef ASTEROPE_OLDEST_LIBC_H
#define ASTEROPE_OLDEST_LIBC_H

#define OLDEST_LIBC "GLIBC_2.2.5"

#endif
