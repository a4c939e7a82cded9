"""What scripts/tune does, once it has found a Python: it refuses, plans, searches and compares.

It needs the standard library alone: it also runs before .venv is there. What installs and builds is
Bash, in scripts/setup.sh.
"""
