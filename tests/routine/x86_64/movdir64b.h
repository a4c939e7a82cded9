/* Runs movdir64b where the CPU lacks it, so that the copies made of it can be checked there too. */
#ifndef ASTEROPE_MOVDIR64B_H
#define ASTEROPE_MOVDIR64B_H

/* From now on every movdir64b (with the addressing modes that the templates use) is decoded and
 * done by the handler of SIGILL. Call after copy_check_start, whose handler gets everything else. A
 * destination that is no multiple of 64 bytes fails the check under way: the CPU would refuse it.
 */
void movdir64b_emulate(void);

#endif
