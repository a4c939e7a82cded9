"""The course of scripts/tune, once it has found a Python: it refuses, plans, searches and compares.

It needs the standard library alone, as it also runs before .venv is there. scripts/setup.sh, in
Bash, installs and builds for it.
"""
