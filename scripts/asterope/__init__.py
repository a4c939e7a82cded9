"""Asterope: turns a measured profile of this machine into a memcpy in C."""

__version__ = "0.1.0"
