"""How well readings agree beyond chance: Krippendorff's alpha for words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction


def nominal_alpha(units: Sequence[Sequence[Hashable | None]]) -> Fraction | None:
    """Krippendorff's alpha of nominal data, exactly; None where it is not defined.

    `units` holds for each unit what each reader gave it; None is a reading that is missing and is left out. With
    n pairable values (those in units with at least two), n_c of them equal to c, and o_cc the coincidences of c with
    itself, alpha = ((n − 1) Σ o_cc − Σ n_c(n_c − 1)) / (n(n − 1) − Σ n_c(n_c − 1)) (Krippendorff 2011, "Computing
    Krippendorff's alpha-reliability", for nominal data). It is not defined without two readings of some unit, nor where
    all readings are the same word: then nothing could have differed.
    """
    totals: Counter[Hashable] = Counter()
    agreeing = Fraction(0)
    for unit in units:
        values = Counter(value for value in unit if value is not None)
        readings = values.total()
        if readings < 2:
            continue
        totals += values
        agreeing += Fraction(sum(count * (count - 1) for count in values.values()), readings - 1)
    n = totals.total()
    by_chance = sum(count * (count - 1) for count in totals.values())
    if n < 2 or by_chance == n * (n - 1):
        return None
    return ((n - 1) * agreeing - by_chance) / (n * (n - 1) - by_chance)
