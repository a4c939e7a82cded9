"""Whole programs with and without the preload library, paired: the command asterope-apps."""
