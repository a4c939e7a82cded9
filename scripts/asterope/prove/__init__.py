"""asterope-prove: a command under libc and under other copies, until the difference is known."""
