"""The random stream as numpy arrays: numpy's own Philox, positioned at any word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verifier.sweeps.streams.python import UNIFORM_SHIFT, UNIFORM_UNIT, check_range, check_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray


def words(stream: int, start: int, count: int) -> NDArray[np.uint64]:
    """Words start … start + count − 1 of a stream: uint64, shape (count,).

    Raises BadInput where `stream` is no 128-bit key, or `start` or `count` is negative or no integer.
    """
    check_range(start, count)
    generator = np.random.Philox(key=check_stream(stream))
    block, place = divmod(start, 4)
    generator.advance(block)
    return generator.random_raw(place + count)[place:]


def uniforms(stream: int, start: int, count: int) -> NDArray[np.float64]:
    """The doubles in [0, 1) made of the same words, 53 bits each: float64, shape (count,). Raises as `words`."""
    return (words(stream, start, count) >> np.uint64(UNIFORM_SHIFT)) * np.float64(UNIFORM_UNIT)
