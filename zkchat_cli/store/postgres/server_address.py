"""The server that `store.url` names: how it is reached, and how it is named in messages, always
without a password.

A server on another machine must be reached with TLS, because libpq would otherwise send a password
and every word in the clear if the server asks it to.
"""

import ipaddress
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from psycopg import ProgrammingError, conninfo

from zkchat_cli.config.store_url import LOCAL_HOSTS, hide_password
from zkchat_cli.errors import ConfigError
from zkchat_cli.store.postgres.schema import SCHEMA

# Seconds
CONNECT_TIMEOUT = 5
LOCK_TIMEOUT = 5
_STATEMENT_TIMEOUT = 60
_SILENCE_TIMEOUT = 15
_ENCRYPTED = ("require", "verify-ca", "verify-full")


class ServerAddress(NamedTuple):
    """Where a store on a server is, and who uses it."""

    # The URL without its password, for messages
    shown: str
    # What psycopg connects with; it may contain a password
    parameters: Mapping[str, Any]
    # Seconds until a server that did not answer is tried again: a turn should wait for it once
    retry_after: float = 5.0
    # Seconds without an answer to a statement; the server itself gives up before
    answer_timeout: float = 75.0

    def __repr__(self) -> str:
        return f"ServerAddress({self.shown})"


def read_address(url: str, user: str, *, allow_insecure: bool) -> ServerAddress:
    """The address of the setting `store.url`, for the user `store.user` (empty: the role alone).
    Raises ConfigError.
    """
    shown = hide_password(url)
    try:
        parameters = conninfo.conninfo_to_dict(url)
    # The message of libpq may quote the password
    except ProgrammingError:
        raise ConfigError(
            f"store.url = {shown} is not an address of a PostgreSQL server",
            "It looks like postgresql://USER@HOST:5432/DATABASE; a password belongs in ~/.pgpass.",
        ) from None
    if not _is_this_machine(parameters):
        parameters["sslmode"] = _require_tls(shown, parameters, allow_insecure=allow_insecure)
    options = [f"-c lock_timeout={LOCK_TIMEOUT}s", f"-c statement_timeout={_STATEMENT_TIMEOUT}s"]
    # Compiling a plan takes longer than any statement of ours
    options += ["-c idle_in_transaction_session_timeout=60s", "-c jit=off"]
    # The plans of our statements do not depend on their values: each is made once
    options.append("-c plan_cache_mode=force_generic_plan")
    # The last one counts: the user chooses waiting times, but neither tables nor a name
    options += [str(parameters.get("options") or ""), f"-c search_path={SCHEMA},pg_temp"]
    if user:
        options.append(f"-c zkchat.user={_escape_option(user)}")
    parameters["options"] = " ".join(options).strip()
    parameters.setdefault("application_name", "zkchat")
    parameters.setdefault("connect_timeout", CONNECT_TIMEOUT)
    parameters.setdefault("tcp_user_timeout", 1000 * _SILENCE_TIMEOUT)
    parameters.setdefault("keepalives_idle", _SILENCE_TIMEOUT)
    return ServerAddress(shown, parameters)


def _is_this_machine(parameters: Mapping[str, Any]) -> bool:
    """Whether all hosts are this machine: a socket in the file system, or its loopback address. A
    service file may name any host.
    """
    if parameters.get("service") or os.environ.get("PGSERVICE"):
        return False
    names: list[str] = []
    for key in ("host", "hostaddr"):
        value = parameters.get(key) or os.environ.get(f"PG{key.upper()}") or ""
        names += [name for name in str(value).split(",") if name]
    return all(_is_local(name) for name in names)


def _is_local(host: str) -> bool:
    if host.startswith(("/", "@")) or host in LOCAL_HOSTS:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _require_tls(shown: str, parameters: Mapping[str, Any], *, allow_insecure: bool) -> str:
    """The sslmode of a connection to another machine. Raises ConfigError for one without TLS."""
    mode = parameters.get("sslmode") or os.environ.get("PGSSLMODE") or ""
    if allow_insecure:
        return str(mode or "prefer")
    if not mode:
        return "require"
    if mode not in _ENCRYPTED:
        raise ConfigError(
            f"store.url = {shown} would send conversations unencrypted: sslmode={mode}",
            "Use sslmode=require or verify-full, or set store.allow_insecure = true.",
        )
    return str(mode)


def _escape_option(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
