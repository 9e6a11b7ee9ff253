"""The random stream: one sequence of words, drawn alike by plain Python, numpy, numba and JAX."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.model.errors import BadInput
from verifier.sweeps.streams import Stream, compiled, philox_block, uniforms, words

STREAMS = [0, 1, 2**64 - 1, 2**64, 2**128 - 1, 0xBE5466CF34E90C6C452821E638D01377]
streams = st.integers(0, 2**128 - 1)


def numpy_words(stream: int, count: int) -> list[int]:
    return [int(word) for word in np.random.Philox(key=stream).random_raw(count)]


# Random123's known-answer vectors for philox4x64, ten rounds: all zeros, all ones, digits of pi.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
    (
        (2**64 - 1,) * 4,
        (2**64 - 1,) * 2,
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_a_block_is_random123s(counter: tuple[int, ...], key: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert philox_block(counter, key) == expected


@pytest.mark.parametrize("stream", STREAMS)
def test_words_are_numpys_in_order(stream: int) -> None:
    expected = numpy_words(stream, 23)
    plain, state = Stream(stream), compiled.new_state(stream)
    assert [plain.next_word() for _ in range(23)] == expected
    assert [int(compiled.next_word(state)) for _ in range(23)] == expected
    assert words(stream, 0, 23).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(stream=streams, start=st.integers(0, 40), count=st.integers(0, 12))
def test_any_word_is_reached_without_those_before_it(stream: int, start: int, count: int) -> None:
    expected = numpy_words(stream, start + count)[start:]
    plain, state = Stream(stream, start=start), compiled.new_state(stream, start=start)
    assert [plain.next_word() for _ in range(count)] == expected
    assert [int(compiled.next_word(state)) for _ in range(count)] == expected
    assert words(stream, start, count).tolist() == expected


def test_far_words_agree() -> None:
    start = 2**63 + 3
    plain, state = Stream(7, start=start), compiled.new_state(7, start=start)
    drawn = [plain.next_word() for _ in range(9)]
    assert [int(compiled.next_word(state)) for _ in range(9)] == drawn
    assert words(7, start, 9).tolist() == drawn


def test_uniforms_are_the_top_53_bits() -> None:
    plain, state = Stream(3), compiled.new_state(3)
    drawn = [plain.uniform() for _ in range(40)]
    assert drawn == [(word >> 11) / 2**53 for word in numpy_words(3, 40)]
    assert [compiled.uniform(state) for _ in range(40)] == drawn
    assert uniforms(3, 0, 40).tolist() == drawn


@settings(max_examples=80, deadline=None)
@given(stream=streams, bounds=st.lists(st.integers(1, 2**63 - 1) | st.integers(1, 9), min_size=1, max_size=12))
def test_bounded_integers_agree_draw_for_draw(stream: int, bounds: list[int]) -> None:
    plain, state = Stream(stream), compiled.new_state(stream)
    drawn = [plain.below(bound) for bound in bounds]
    assert [compiled.below(state, bound) for bound in bounds] == drawn
    assert all(0 <= value < bound for value, bound in zip(drawn, bounds, strict=True))
    assert int(compiled.next_word(state)) == plain.next_word()  # rejections used up the same words


def test_rejection_happens_and_leaves_no_bias() -> None:
    # With a bound just above 2^62 · 3/2, the multiply-and-reject draw refuses about a third of all words.
    bound = 3 * 2**61 + 1
    plain = Stream(11)
    drawn = [plain.below(bound) for _ in range(3000)]
    refused = plain._position - 3000
    share = ((1 << 64) % bound) / 2**64
    assert share > 0.2
    expected = 3000 * share / (1 - share)
    assert abs(refused - expected) < 5 * expected**0.5 / (1 - share)
    thirds = np.bincount([3 * value // bound for value in drawn], minlength=3)
    assert ((thirds - 1000) ** 2 / 1000).sum() < 18.4  # chi-square, 2 degrees of freedom, p = 1e-4


@pytest.mark.parametrize("count", [0, 1, 2, 5, 64])
def test_permutations_agree_and_permute(count: int) -> None:
    plain, state = Stream(5), compiled.new_state(5)
    drawn = plain.permutation(count)
    assert compiled.permutation(state, count).tolist() == drawn
    assert sorted(drawn) == list(range(count))


def test_every_order_is_equally_likely() -> None:
    plain = Stream(9)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        order = tuple(plain.permutation(3))
        counts[order] = counts.get(order, 0) + 1
    assert sum((seen - 1000) ** 2 / 1000 for seen in counts.values()) < 25.7  # 5 degrees of freedom, p = 1e-4
    assert len(counts) == 6


def test_a_shuffle_leaves_the_head_alone() -> None:
    items, array = list(range(9)), np.arange(9)
    Stream(4).shuffle(items, first=2)
    compiled.shuffle(compiled.new_state(4), array, 2)
    assert array.tolist() == items
    assert items[:2] == [0, 1]
    assert items[2:] != list(range(2, 9))


@pytest.mark.parametrize("stream", [-1, 2**128, 1.0, "1", True, None, np.uint64(1)])
def test_a_stream_is_a_128_bit_integer(stream: Any) -> None:
    for make in (Stream, compiled.new_state, lambda key: words(key, 0, 1), lambda key: uniforms(key, 0, 1)):
        with pytest.raises(BadInput, match="stream"):
            make(stream)


@pytest.mark.parametrize(("start", "count"), [(-1, 1), (0, -1), (0.5, 1), (0, 2.0), (4 * 2**64, 1)])
def test_a_range_of_words_lies_in_the_stream(start: Any, count: Any) -> None:
    with pytest.raises(BadInput):
        words(1, start, count)


@pytest.mark.parametrize("bound", [0, -3, 2**64])
def test_a_bound_is_positive_and_64_bit(bound: int) -> None:
    with pytest.raises(BadInput, match="bound"):
        Stream(1).below(bound)


def test_the_package_imports_neither_numba_nor_jax() -> None:
    code = "import sys, verifier.sweeps.streams; sys.exit(bool({'numba', 'jax'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("x64", [False, True])
def test_jax_draws_the_same_words_in_either_mode(x64: bool) -> None:  # noqa: FBT001  # pytest passes it by name
    # In a process of its own: JAX's mode is global, and JAX warns when a process that loaded it forks.
    code = f"""
import jax
jax.config.update("jax_enable_x64", {x64})
import numpy as np
from verifier.sweeps.streams import wide, words
streams = {STREAMS}
for start, count in [(0, 23), (5, 1), (7, 12), (2**34 - 2, 9), (2**63 + 3, 9), (3, 0)]:
    high, low = wide.words(streams, start, count)
    assert high.dtype == low.dtype == np.uint32, (high.dtype, low.dtype)
    expected = np.stack([words(stream, start, count) for stream in streams])
    assert np.array_equal(wide.as_uint64((high, low)), expected), (start, count)
assert wide.as_uint64(wide.words([], 0, 3)).shape == (0, 3)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
