"""How often one address may ask: a token bucket for each, in bounded memory."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

_CLIENTS = 10_000  # addresses remembered; the ones longest silent are forgotten, and begin with a full bucket


class RateLimit:
    """At most `per_minute` requests a minute from one address, and as many at once where it was silent before.

    `now` is a clock in seconds that never goes back.
    """

    def __init__(self, per_minute: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._burst = float(per_minute)
        self._rate = per_minute / 60
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until `address` may ask again; 0 where it may now, and then this request is counted."""
        name, now = client_of(address), self._now()
        left, at = self._buckets.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        allowed = left >= 1
        self._buckets[name] = (left - 1 if allowed else left, now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate


def client_of(address: str) -> str:
    """Whom an address counts as: itself, or the /64 network of an IPv6 one, all of which one host can use."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed.packed, 64), strict=False))
    return str(parsed)
