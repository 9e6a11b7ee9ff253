"""The metamorphic fingerprint of an evaluator: change the corpus in ways with a known effect, see which effect fails.

Metamorphic testing after Chen, Cheung and Yiu (1998): no reference value is needed, only relations between calls.
"""

from verifier.audits.fingerprint.corpus import Corpus
from verifier.audits.fingerprint.result import Fingerprint
from verifier.audits.fingerprint.run import fingerprint
from verifier.audits.fingerprint.witness import Witness, recheck

__all__ = ["Corpus", "Fingerprint", "Witness", "fingerprint", "recheck"]
