"""Catalogues of formulas, one module a kind, with inputs that tell their entries apart."""

from __future__ import annotations

from verifier.audits.catalogues.bleu import BLEU
from verifier.audits.catalogues.classification import CLASSIFICATION
from verifier.audits.catalogues.dice import DICE
from verifier.audits.catalogues.divergences import DIVERGENCES
from verifier.audits.catalogues.entry import Arguments, Catalogue, Entry, Family
from verifier.audits.catalogues.pass_at_k import PASS_AT_K
from verifier.audits.catalogues.perplexity import PERPLEXITY
from verifier.audits.catalogues.rank_ties import RANK_TIES
from verifier.audits.catalogues.reductions import REDUCTIONS
from verifier.audits.catalogues.spread import STD
from verifier.audits.catalogues.throughput import THROUGHPUT, UTILISATION
from verifier.audits.catalogues.word_error_rate import WORD_ERROR_RATE
from verifier.model.complaints import nearest, shown
from verifier.model.errors import BadInput

__all__ = ["CATALOGUES", "Arguments", "Catalogue", "Entry", "Family", "catalogue_named"]

CATALOGUES = {
    each.name: each
    for each in (
        DIVERGENCES,
        REDUCTIONS,
        CLASSIFICATION,
        PERPLEXITY,
        STD,
        PASS_AT_K,
        WORD_ERROR_RATE,
        DICE,
        RANK_TIES,
        THROUGHPUT,
        UTILISATION,
        BLEU,
    )
}
"""Name -> catalogue."""


def catalogue_named(name: str) -> Catalogue:
    """The catalogue of this name. Raises BadInput, naming the nearest, where there is none."""
    if name not in CATALOGUES:
        raise BadInput(
            f"{shown(name)} is no catalogue", where="catalogue", mend=nearest(name, tuple(CATALOGUES))
        )  # fmt: skip
    return CATALOGUES[name]
