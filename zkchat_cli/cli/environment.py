"""Settings of the system that a library reads late: what is wrong with them is told at the start,
and ends nothing.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from zkchat_cli.text.sanitize import sanitize_name

_OFFSET = r"[+-]?\d{1,3}(?::\d\d){0,2}"
_ZONE_NAME = r"(?:[A-Za-z]{3,}|<[+\-A-Za-z0-9]{3,}>)"
_RULE = rf"(?:J\d{{1,3}}|\d{{1,3}}|M\d{{1,2}}\.[1-5]\.[0-6])(?:/{_OFFSET})?"
# A time zone in the form of POSIX.1-2017, 8.3: CET-1CEST,M3.5.0,M10.5.0/3
_POSIX_ZONE = re.compile(
    rf"{_ZONE_NAME}{_OFFSET}(?:{_ZONE_NAME}(?:{_OFFSET})?(?:,{_RULE},{_RULE})?)?"
)
_XDG_FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")


def environment_warnings(env: Mapping[str, str]) -> Iterator[str]:
    """What to tell of each variable with a value that the system ignores."""
    zone = env.get("TZ", "")
    if os.name == "posix" and zone and not _is_time_zone(zone):
        yield (
            f"TZ={sanitize_name(zone)} is no time zone, so times are in UTC. "
            "Set TZ to a name such as Europe/Berlin, or unset it."
        )
    if env.get("ZKCHAT_HOME"):
        return
    for name in _XDG_FOLDERS:
        folder = env.get(name, "")
        if folder and not Path(folder).is_absolute():
            yield f"{name}={sanitize_name(folder)} is ignored: it must be an absolute path."


def _is_time_zone(zone: str) -> bool:
    name = zone.removeprefix(":")
    file = Path(name)
    if _POSIX_ZONE.fullmatch(name) or (file.is_absolute() and file.is_file()):
        return True
    # Deferred: few set TZ
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    # A folder of zones is an OSError, a path outside theirs a ValueError, an unknown one a KeyError
    except (KeyError, ValueError, OSError):
        return False
    return True
