"""The random stream in plain Python: the definition the other three are held to.

Philox 4×64 with ten rounds (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"):
a block of four 64-bit words is a function of a 256-bit counter and a 128-bit key, so any word of any stream
is reached without drawing those before it.
"""

from __future__ import annotations

from typing import TypeAlias

from verifier.model.errors import BadInput

Block: TypeAlias = tuple[int, int, int, int]

MASK64 = (1 << 64) - 1
ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)  # added to the key after each round (Weyl sequences)
UNIFORM_SHIFT = 11  # a double keeps 53 of the 64 bits
UNIFORM_UNIT = 2.0**-53


def check_stream(stream: int) -> int:
    """`stream` itself, if it names one: an int in [0, 2^128). Raises BadInput otherwise."""
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise BadInput(
            f"a stream is a Python integer, not {type(stream).__name__}", where="stream", mend="pass int(stream)"
        )
    if not 0 <= stream < 1 << 128:
        raise BadInput(f"stream {stream} lies outside [0, 2^128)", where="stream", mend="use a 128-bit key")
    return stream


def check_range(start: int, count: int) -> None:
    """Raises BadInput unless words start, …, start + count − 1 exist: both are integers ≥ 0, and the end is ≤ 2^66."""
    for name, value in (("start", start), ("count", count)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadInput(f"{name} is {value!r}", where=name, mend="use an integer of at least 0")
    # The compiled and the JAX generator count blocks of four words in 64 bits.
    if start + count > 4 * MASK64:
        raise BadInput(f"word {start + count} lies beyond the end of a stream", where="start", mend="stay below 2^66")


def philox_block(counter: Block, key: tuple[int, int]) -> Block:
    """The four 64-bit words of one block of Philox 4×64-10 (Salmon et al. 2011).

    `counter` and `key` are 64-bit words, least significant first.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        product0, product1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (product1 >> 64) ^ c1 ^ k0,
            product1 & MASK64,
            (product0 >> 64) ^ c3 ^ k1,
            product0 & MASK64,
        )
        k0, k1 = (k0 + KEY_STEPS[0]) & MASK64, (k1 + KEY_STEPS[1]) & MASK64
    return c0, c1, c2, c3


class Stream:
    """The stream with the 128-bit key `stream`, drawn word by word from word number `start` on.

    Raises BadInput where `stream` or `start` is not what it must be.
    """

    def __init__(self, stream: int, *, start: int = 0) -> None:
        check_range(start, 0)
        self._key = (check_stream(stream) & MASK64, stream >> 64)
        self._position = start
        self._block: Block | None = None

    def next_word(self) -> int:
        """The next 64-bit word, an integer in [0, 2^64)."""
        block, place = divmod(self._position, 4)
        if place == 0 or self._block is None:
            # numpy counts up before it draws: its first block is that of counter 1.
            number = block + 1
            self._block = philox_block((number & MASK64, number >> 64, 0, 0), self._key)
        self._position += 1
        return self._block[place]

    def uniform(self) -> float:
        """A double in [0, 1): the top 53 bits of the next word."""
        return (self.next_word() >> UNIFORM_SHIFT) * UNIFORM_UNIT

    def below(self, bound: int) -> int:
        """An unbiased integer in [0, bound), for 1 ≤ bound < 2^64 (Lemire 2019, multiply and reject).

        Raises BadInput for any other bound.
        """
        if not 1 <= bound <= MASK64:
            raise BadInput(f"no integer lies in [0, {bound})", where="bound", mend="use a bound from 1 to 2^64 − 1")
        rejected = ((1 << 64) - bound) % bound
        while True:
            product = self.next_word() * bound
            if product & MASK64 >= rejected:
                return product >> 64

    def shuffle(self, items: list[int], *, first: int = 0) -> None:
        """Permutes items[first:] in place, every order equally likely (Fisher and Yates, from the end)."""
        for last in range(len(items) - 1, first, -1):
            chosen = first + self.below(last - first + 1)
            items[last], items[chosen] = items[chosen], items[last]

    def permutation(self, count: int) -> list[int]:
        """The integers 0 … count − 1 in random order."""
        items = list(range(count))
        self.shuffle(items)
        return items
