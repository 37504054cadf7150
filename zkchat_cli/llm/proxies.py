"""Which proxy leads to a server, decided once for all clients.

httpx reads the same variables, but it takes `127.0.0.0/8` and `::1/128` in NO_PROXY, which Docker
and OrbStack set, for addresses and fails for every server. So zkchat reads them itself, and gives
each client one proxy or none.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
DEFAULT_PORTS = {"http": 80, "https": 443}
# An entry of NO_PROXY with a port: notes.lan:8080, 10.0.0.1:80, [::1]:80
_WITH_PORT = re.compile(r"(?P<host>\[[^]]*\]|[^:\[\]]+):(?P<port>\d+)")


class _Target(NamedTuple):
    """A server that is called: its name in lower case, and its address if the name is one."""

    host: str
    port: int | None
    address: Address | None


def environment_proxy(address: str) -> str | None:
    """The proxy that the environment or the system names for a server, or None."""
    # Deferred: it takes 10 ms, and only a call of a server needs it
    from urllib.request import getproxies

    return proxy_for(address, getproxies())


def is_this_machine(address: str) -> bool:
    """Whether a server runs on this machine. The address 0.0.0.0 counts, because servers print it
    as their own.
    """
    with suppress(ValueError):
        host = urlsplit(address).hostname or ""
        if host == "localhost":
            return True
        found = ip_address(host)
        return found.is_loopback or found.is_unspecified
    return False


def proxy_for(address: str, proxies: Mapping[str, str]) -> str | None:
    """The address of the proxy for a call of `address` (`https://host:port/…`), or None. There is
    none between this machine and itself.

    `proxies` maps `http`, `https` and `all` to addresses and `no` to the value of NO_PROXY, as
    `urllib.request.getproxies` returns them. An entry of NO_PROXY is `*`, a name with all names
    below it, an IP address, a network such as `10.0.0.0/8` or `fd00::/8`, each of them with a port
    behind it if only that port is meant. An entry that is none of these concerns no server.
    """
    url = urlsplit(address)
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or is_this_machine(address):
        return None
    host = (url.hostname or "").rstrip(".")
    target = _Target(host, url.port or DEFAULT_PORTS.get(url.scheme), _parse_address(host))
    entries = re.split(r"[\s,]+", proxies.get("no", ""))
    if any(_excludes(entry.lower(), target) for entry in entries if entry):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _excludes(entry: str, target: _Target) -> bool:
    """Whether an entry of NO_PROXY means this server."""
    if entry == "*":
        return True
    found = _WITH_PORT.fullmatch(entry)
    if found:
        if int(found["port"]) != target.port:
            return False
        entry = found["host"]
    entry = entry.strip("[]")
    if target.address is not None:
        return _is_in_network(entry, target.address)
    name = entry.removeprefix("*").strip(".")
    return bool(name) and (target.host == name or target.host.endswith(f".{name}"))


def _is_in_network(entry: str, address: Address) -> bool:
    with suppress(ValueError):
        return address in ip_network(entry, strict=False)
    return False


def _parse_address(host: str) -> Address | None:
    with suppress(ValueError):
        return ip_address(host)
    return None
