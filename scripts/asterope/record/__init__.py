"""The command asterope-record: what a program's own copies are like, and what they cost."""
