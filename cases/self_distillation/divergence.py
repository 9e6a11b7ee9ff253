"""The divergence between a teacher's and a student's next-token distributions, as the released trainer mixes it.

Every function takes the teacher's and the student's probabilities, float arrays of shape (classes,), all above zero.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def kl(first: Floats, second: Floats) -> float:
    """KL(first || second) in nats (Kullback and Leibler 1951)."""
    return float(np.sum(first * np.log(first / second)))


def released(teacher: Floats, student: Floats, *, alpha: Fraction = Fraction(0)) -> float:
    """The trainer's loss: KL(T||S) at alpha = 0, KL(S||T) at alpha = 1, in between alpha KL(T||M) + (1-alpha) KL(S||M).

    M = (1 - alpha) S + alpha T.
    """
    share = float(alpha)
    if share == 0:
        return kl(teacher, student)
    if share == 1:
        return kl(student, teacher)
    mixture = (1 - share) * student + share * teacher
    return share * kl(teacher, mixture) + (1 - share) * kl(student, mixture)


def alpha_one(teacher: Floats, student: Floats) -> float:
    """Control: the same code with the direction that the text states."""
    return released(teacher, student, alpha=Fraction(1))


def alpha_one_hundredth(teacher: Floats, student: Floats) -> float:
    """Control: a small alpha."""
    return released(teacher, student, alpha=Fraction(1, 100))


def logged_estimate(teacher: Floats, student: Floats) -> float:
    """Control: the expectation, over the student's samples, of the estimate r - 1 - ln r with r = T/S.

    E_S[T/S] = 1, so what is left is E_S[ln(S/T)] (Schulman 2020, the third of three estimators).
    """
    ratio = teacher / student
    return float(np.sum(student * (ratio - 1 - np.log(ratio))))


def mean_over_classes(teacher: Floats, student: Floats) -> float:
    """Control: the stated direction, averaged over the classes instead of summed."""
    return kl(student, teacher) / teacher.size
