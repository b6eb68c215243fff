"""Whether somebody is there at an address, found out before anything is asked: a host that is down answers nothing for a long time."""

import asyncio
import os
from contextlib import suppress
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

_LIMIT: Final = 3.0
"""Seconds to take a connection."""
_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")


async def takes_connections(api_base: str | None) -> bool:
    """Whether somebody listens at an address in digits. True where that cannot be found out at once: for names, and behind a proxy."""
    parts = urlsplit(api_base or "")
    try:
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        local = ip_address(host).is_loopback
    except ValueError:
        return True
    if not local and any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES):
        return True
    try:
        async with asyncio.timeout(_LIMIT):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
    return True
