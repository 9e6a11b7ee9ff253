"""Register, run, rule, record."""

from verifier.engine.register import history, register, standing_ruling
from verifier.engine.run import Options, Partial, RunProgress, run
from verifier.engine.targets import check_targets

__all__ = ["Options", "Partial", "RunProgress", "check_targets", "history", "register", "run", "standing_ruling"]
