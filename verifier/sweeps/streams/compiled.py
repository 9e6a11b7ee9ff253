"""The random stream for simulators compiled with numba: `Stream`, method for method and draw for draw.

The state is an array of eight uint64 that the caller owns, so a compiled loop draws without any global:
key (2 words), number of the current block, words of it already drawn, the block (4 words).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np

from verifier.sweeps.streams.python import (
    KEY_STEPS,
    MASK64,
    MULTIPLIERS,
    ROUNDS,
    UNIFORM_SHIFT,
    UNIFORM_UNIT,
    check_range,
    check_stream,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

_M0, _M1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
_W0, _W1 = np.uint64(KEY_STEPS[0]), np.uint64(KEY_STEPS[1])
_ONE, _FOUR, _SHIFT = np.uint64(1), np.uint64(4), np.uint64(UNIFORM_SHIFT)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def compiled(function: Function) -> Function:
    """Numba's nopython compilation, cached on disk; the type of `function` is kept for the type checker."""
    return cast("Function", numba.njit(cache=True)(function))


def new_state(stream: int, *, start: int = 0) -> NDArray[np.uint64]:
    """The state from which the next draw is word `start` of the stream: uint64, shape (8,).

    Raises BadInput where `stream` is no 128-bit key or `start` is no place in it.
    """
    check_range(start, 0)
    block, place = divmod(start, 4)
    state = np.zeros(8, dtype=np.uint64)
    state[:4] = check_stream(stream) & MASK64, stream >> 64, block, 4
    for _ in range(place):
        next_word(state)
    return state


@compiled
def multiply_high(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of the product of two 64-bit words, by halves: numba has no 128-bit integer."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF)


@compiled
def next_word(state: NDArray[np.uint64]) -> np.uint64:
    """The next 64-bit word; the state moves on by one."""
    if state[3] == _FOUR:
        state[2] += _ONE  # counted up before the block is drawn, as numpy does
        state[3] = np.uint64(0)
        k0, k1, c0, c1, c2, c3 = state[0], state[1], state[2], np.uint64(0), np.uint64(0), np.uint64(0)
        for _ in range(ROUNDS):
            high0, low0 = multiply_high(_M0, c0), _M0 * c0
            high1, low1 = multiply_high(_M1, c2), _M1 * c2
            c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
            k0 += _W0
            k1 += _W1
        state[4], state[5], state[6], state[7] = c0, c1, c2, c3
    word: np.uint64 = state[_FOUR + state[3]]
    state[3] += _ONE
    return word


@compiled
def uniform(state: NDArray[np.uint64]) -> float:
    """A double in [0, 1): the top 53 bits of the next word."""
    return (next_word(state) >> _SHIFT) * UNIFORM_UNIT


@compiled
def below(state: NDArray[np.uint64], bound: int) -> np.int64:
    """An unbiased integer in [0, bound), 1 ≤ bound < 2^63 (Lemire 2019). The bound is not checked."""
    width = np.uint64(bound)
    word = next_word(state)
    low = word * width
    if low < width:  # else no rejection is possible, and the division is saved
        rejected = (~width + _ONE) % width
        while low < rejected:
            word = next_word(state)
            low = word * width
    return np.int64(multiply_high(word, width))


@compiled
def shuffle(state: NDArray[np.uint64], items: NDArray[np.int64], first: int) -> None:
    """Permutes items[first:] in place, every order equally likely (Fisher and Yates, from the end)."""
    for last in range(len(items) - 1, first, -1):
        chosen = first + below(state, last - first + 1)
        items[last], items[chosen] = items[chosen], items[last]


@compiled
def permutation(state: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """The integers 0 … count − 1 in random order: int64, shape (count,)."""
    items = np.arange(count)
    shuffle(state, items, 0)
    return items
