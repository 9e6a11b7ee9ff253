"""One counter-based random stream, drawn alike by plain Python, numpy, numba and JAX.

Word n of stream s is word n of `numpy.random.Philox(key=s).random_raw`, wherever it is drawn: `Stream`
(python), `words` and `uniforms` (numpy) are here; `streams.compiled` needs numba, `streams.wide` needs JAX.
"""

from __future__ import annotations

from verifier.sweeps.streams.arrays import uniforms, words
from verifier.sweeps.streams.python import Stream, check_stream, philox_block

__all__ = ["Stream", "check_stream", "philox_block", "uniforms", "words"]
