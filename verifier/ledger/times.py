"""The ledger's clock: RFC 3339 UTC in whole seconds, or the moment that SOURCE_DATE_EPOCH fixes."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime

from verifier.model.errors import BadInput, InfrastructureFailed

EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"
MAX_BEHIND = 300  # seconds a clock may stand behind the previous entry
_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def fixed_epoch() -> int | None:
    """The second that SOURCE_DATE_EPOCH names, or None where it is not set. Raises BadInput where it is no second."""
    text = os.environ.get(EPOCH_VARIABLE, "")
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) > _LAST_SECOND:
        raise BadInput(
            f"{text!r} is not a number of seconds since 1970",
            where=EPOCH_VARIABLE,
            mend="set it to a whole number such as 1700000000, or unset it",
        )
    return int(text)


def system_now() -> int:
    """The system clock in whole seconds since 1970, UTC."""
    return int(time.time())


def time_text(second: int) -> str:
    """A second since 1970 as RFC 3339 text, such as `2023-11-14T22:13:20Z`."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_time_text(value: object) -> bool:
    """Whether `value` is a moment as `time_text` writes it. Such texts sort as the moments do."""
    if not isinstance(value, str) or not _FORM.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:-1])
    except ValueError:
        return False
    return True


def next_time(now: int, previous: str | None) -> str:
    """The time to write on an entry appended at second `now` after one of time `previous`.

    Raises InfrastructureFailed where the clock stands more than 5 minutes behind; a clock less far behind gives the
    previous entry's time, so that times never run backwards.
    """
    written = time_text(now)
    if previous is None or written >= previous:
        return written
    if time_text(min(now + MAX_BEHIND, _LAST_SECOND)) < previous:
        raise InfrastructureFailed(
            f"the clock says {written}, more than 5 minutes before the ledger's last entry of {previous}",
            where="clock",
            mend="set the clock and run the command again",
        )
    return previous
