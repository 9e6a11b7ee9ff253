"""Scores around known means, and seconds around known ratios."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def _normal(stream: int, count: int) -> Values:
    return np.random.Generator(np.random.Philox(key=stream)).standard_normal(count)


def _scores(stream: int, tasks: int, gain: float) -> dict[str, Values]:
    noise = _normal(stream, 3 * tasks).reshape(3, tasks)
    shared, left, right = 50 + 5 * noise[0], 6 * noise[1], 6 * noise[2]
    return {
        "left": np.clip(shared + left + gain, 0, 100),
        "right": np.clip(shared + right, 0, 100),
    }


def scores(*, stream: int, tasks: int, gain: Fraction = Fraction(0)) -> dict[str, Values]:
    return _scores(stream, tasks, float(gain))


def scores_again(*, stream: int, tasks: int, arm: str, gain: Fraction = Fraction(0)) -> Values:
    return scores(stream=stream, tasks=tasks, gain=gain)[arm]


def scores_of_four(*, stream: int, tasks: int) -> dict[str, Values]:
    return _scores(stream, tasks, 4.0)


def four() -> int:
    return 4


def _seconds(stream: int, mean: float) -> list[float]:
    return [mean * (1 + 0.1 * float(_normal(stream, 1)[0]))]


def seconds(*, stream: int, arm: str) -> list[float]:
    return _seconds(stream, 1.0 if arm == "left" else 2.0)


def seconds_of_eight(*, stream: int, arm: str) -> list[float]:
    return _seconds(stream, 8.0 if arm == "left" else 1.0)


def eight() -> Fraction:
    return Fraction(8)
