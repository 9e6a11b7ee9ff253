"""The random stream for JAX: many streams side by side, in 32-bit halves.

JAX turns uint64 into uint32 without a word unless its x64 mode is on, so nothing here is wider than 32 bits:
a 64-bit word is a pair (high, low) of uint32, and the answers do not depend on that mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import jax
import jax.numpy as jnp
import numpy as np

from verifier.sweeps.streams.python import KEY_STEPS, MULTIPLIERS, ROUNDS, check_range, check_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Word: TypeAlias = tuple[jax.Array, jax.Array]  # high and low half, uint32

_LOW32 = (1 << 32) - 1


def words(streams: Sequence[int], start: int, count: int) -> Word:
    """Words start … start + count − 1 of each stream, as halves (high, low): uint32, shape (len(streams), count).

    Raises BadInput where a stream is no 128-bit key, or `start` or `count` is negative or no integer.
    """
    check_range(start, count)
    keys = np.array(
        [[check_stream(stream) >> shift & _LOW32 for shift in (32, 0, 96, 64)] for stream in streams], dtype=np.uint32
    ).reshape(len(streams), 4)
    first, place = divmod(start, 4)
    numbers = [first + 1 + n for n in range((place + count + 3) // 4)]  # numpy counts up before it draws
    blocks = np.array([[number >> 32, number & _LOW32] for number in numbers], dtype=np.uint32).reshape(-1, 2)
    high, low = _blocks(keys[:, None, :], blocks[None, :, :])
    flat = (len(streams), 4 * len(numbers))
    return high.reshape(flat)[:, place : place + count], low.reshape(flat)[:, place : place + count]


def as_uint64(halves: Word) -> NDArray[np.uint64]:
    """The 64-bit words of a pair of halves, as a numpy array of their shape."""
    high, low = (np.asarray(half).astype(np.uint64) for half in halves)
    return high << np.uint64(32) | low


def block(key: tuple[Word, Word], number: Word) -> tuple[Word, Word, Word, Word]:
    """The four words of block `number` (from 1, below 2^64) under a key (low word, high word); shapes broadcast.

    Traceable: a simulator under `jit`, `vmap` or `scan` draws with it. Philox 4×64-10, Salmon et al. 2011.
    """
    shape = jnp.broadcast_shapes(*[jnp.shape(half) for word in (*key, number) for half in word])
    k0, k1, count = (tuple(jnp.broadcast_to(half, shape) for half in word) for word in (*key, number))
    zero = (jnp.zeros(shape, jnp.uint32), jnp.zeros(shape, jnp.uint32))
    # A loop, not ten copies: unrolled, XLA needs over a minute to compile it.
    words_and_keys = jax.lax.fori_loop(0, ROUNDS, _round, (count, zero, zero, zero, k0, k1))
    return cast("tuple[Word, Word, Word, Word]", words_and_keys[:4])


def _round(_: int, state: tuple[Word, ...]) -> tuple[Word, ...]:
    """One round of Philox: multiply, swap and mix in the key, then step the key."""
    c0, c1, c2, c3, k0, k1 = state
    high0, low0 = _multiply(_constant(MULTIPLIERS[0]), c0)
    high1, low1 = _multiply(_constant(MULTIPLIERS[1]), c2)
    k0_next, k1_next = _add(k0, _constant(KEY_STEPS[0])), _add(k1, _constant(KEY_STEPS[1]))
    return _xor(high1, c1, k0), low1, _xor(high0, c3, k1), low0, k0_next, k1_next


@jax.jit
def _blocks(keys: jax.Array, numbers: jax.Array) -> Word:
    """Blocks of every key: keys (…, 4) and numbers (…, 2) broadcast; halves of shape (…, 4)."""
    key = ((keys[..., 0], keys[..., 1]), (keys[..., 2], keys[..., 3]))
    drawn = block(key, (numbers[..., 0], numbers[..., 1]))
    high, low = (jnp.stack([word[half] for word in drawn], axis=-1) for half in (0, 1))
    return high, low


def _constant(word: int) -> Word:
    return jnp.uint32(word >> 32), jnp.uint32(word & _LOW32)


def _xor(*parts: Word) -> Word:
    high, low = parts[0]
    for part in parts[1:]:
        high, low = high ^ part[0], low ^ part[1]
    return high, low


def _add(a: Word, b: Word) -> Word:
    """The sum mod 2^64."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]).astype(jnp.uint32), low


def _multiply32(a: jax.Array, b: jax.Array) -> Word:
    """The 64-bit product of two 32-bit words, by 16-bit halves."""
    mask, half = jnp.uint32(0xFFFF), jnp.uint32(16)
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    middle = a_high * b_low + ((a_low * b_low) >> half)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (other >> half), a * b


def _multiply(a: Word, b: Word) -> tuple[Word, Word]:
    """The upper and the lower 64 bits of the product of two 64-bit words."""
    zero = jnp.uint32(0)
    lows, cross, other, highs = (
        _multiply32(a[1], b[1]),
        _multiply32(a[0], b[1]),
        _multiply32(a[1], b[0]),
        _multiply32(a[0], b[0]),
    )
    # No sum below exceeds 2^64: (2^32 − 1)² + 2(2^32 − 1) = 2^64 − 1.
    middle = _add(cross, (zero, lows[0]))
    last = _add(other, (zero, middle[1]))
    return _add(_add(highs, (zero, middle[0])), (zero, last[0])), (last[1], lows[1])
