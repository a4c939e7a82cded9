"""Copies numpy arrays with the tuned routine. Refuses any that is not one piece of plain memory.

Needs libasterope_memcpy.so beside this file: see README.md.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

# CDLL lets other Python threads run during a call; PyDLL would not.
_library = ctypes.CDLL(str(Path(__file__).resolve().with_name("libasterope_memcpy.so")))
_memcpy = _library.asterope_memcpy
_memmove = _library.asterope_memmove
for _function in (_memcpy, _memmove):
    # Without these, ctypes would cut addresses and sizes down to 32 bits.
    _function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    _function.restype = ctypes.c_void_p


def copy(to: np.ndarray, source: np.ndarray) -> None:
    """As np.copyto(to, source) for arrays of one shape and type, each in one piece.

    Raises ValueError or TypeError, and writes nothing, where they are not or where they overlap.
    No other thread may change either of them meanwhile.
    """
    _check(to, source)
    if np.may_share_memory(to, source):  # exact for arrays in one piece
        raise ValueError("source and destination overlap: use move")
    _memcpy(to.ctypes.data, source.ctypes.data, source.nbytes)


def move(to: np.ndarray, source: np.ndarray) -> None:
    """As copy, where the two may overlap."""
    _check(to, source)
    _memmove(to.ctypes.data, source.ctypes.data, source.nbytes)


def _check(to: np.ndarray, source: np.ndarray) -> None:
    if not isinstance(to, np.ndarray) or not isinstance(source, np.ndarray):
        raise TypeError("needs two numpy arrays")
    if to.dtype != source.dtype:
        raise TypeError(f"{source.dtype} does not become {to.dtype} in a copy of bytes")
    if to.dtype.hasobject:
        raise TypeError("copied Python objects would not be counted")
    if to.shape != source.shape:
        raise ValueError(f"shape {source.shape} does not fill {to.shape}")
    both_rows = to.flags.c_contiguous and source.flags.c_contiguous
    both_columns = to.flags.f_contiguous and source.flags.f_contiguous
    if not (both_rows or both_columns):
        raise ValueError("not in one piece, or not in the same order: copy it part by part")
    if not to.flags.writeable:
        raise ValueError("the destination is read-only")
