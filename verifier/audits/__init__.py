"""Basis audits: do two numbers stand on the same basis? One module a mechanism, one public function each.

    compare                      two printed numbers with their basis records
    reconcile                    a ratio, by factors that the case declares
    dilution                     what scored padding does to perplexities
    closure, granularity         identities between printed numbers; percentages that must be counts
    speed, selection             what "faster" means; bests of unequal numbers of trials
    aggregate                    every order of averaging values
    fingerprint                  what an evaluator does wrong, from relations that a right one keeps
    identify, witness            which formula a function computes; the smallest input on which two differ

Each answers with a frozen result, and that with an `Audit`. `audit_file` puts the tables of an audit file to them.
"""

from __future__ import annotations

# eager, because some functions are called like their modules: a lazy name would give the module once that is loaded
from verifier.audits.aggregate import Aggregation, aggregate
from verifier.audits.audit import Audit, Residual, Side
from verifier.audits.basis import compare
from verifier.audits.closure import closure
from verifier.audits.declared import Declared
from verifier.audits.dilution import dilution
from verifier.audits.dilution_box import Measured, PadLoss, PrintedDeflation
from verifier.audits.document import audit_document
from verifier.audits.file import audit_file
from verifier.audits.fingerprint import Fingerprint, fingerprint
from verifier.audits.granularity import granularity
from verifier.audits.identify import Identification, identify
from verifier.audits.printed import Printed, printed
from verifier.audits.reconcile import reconcile
from verifier.audits.records import Comparison, Formula, ItemSet, Per, Record, Selection
from verifier.audits.selection import Arm, selection
from verifier.audits.speed import speed
from verifier.audits.witness import Witness, witness

__all__ = [
    "Aggregation",
    "Arm",
    "Audit",
    "Comparison",
    "Declared",
    "Fingerprint",
    "Formula",
    "Identification",
    "ItemSet",
    "Measured",
    "PadLoss",
    "Per",
    "Printed",
    "PrintedDeflation",
    "Record",
    "Residual",
    "Selection",
    "Side",
    "Witness",
    "aggregate",
    "audit_document",
    "audit_file",
    "closure",
    "compare",
    "dilution",
    "fingerprint",
    "granularity",
    "identify",
    "printed",
    "reconcile",
    "selection",
    "speed",
    "witness",
]
