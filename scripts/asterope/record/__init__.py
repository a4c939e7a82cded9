"""The command asterope-record: the copies that a program makes, and their cost at most."""
