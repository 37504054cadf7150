"""The log file: with `--verbose` what zkchat and its libraries do, otherwise only unexpected
errors. It is in the data directory, small, private, and without keys.

Where standard output belongs to a protocol, warnings go to standard error, too.
"""

import logging
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from zkchat_cli import paths
from zkchat_cli.config.credentials import read_keys
from zkchat_cli.errors import ConfigError, ZkchatError, reason
from zkchat_cli.fileio import make_private_folder
from zkchat_cli.llm.http_client import API_KEY
from zkchat_cli.text.sanitize import MASK, SecretMask

LOG_NAME = "zkchat.log"
# Bytes of a log file, and old log files that are kept
MAX_BYTES = 1_000_000
BACKUPS = 3
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_HEADER = re.compile(
    r"(authorization|x-api-key|bearer)(['\"]?\s*[:=,]?\s*['\"]?)(bearer\s+)?[^\s'\",}]+",
    re.IGNORECASE,
)


def start_logging(env: Mapping[str, str], *, only_errors: bool = False) -> Path:
    """Log to a file in the data directory from now on, unless that is done already; returns its
    path. Raises ZkchatError if it cannot be written.
    """
    file = paths.app_paths(env).data_dir / LOG_NAME
    root = logging.getLogger()
    if any(isinstance(each, _PrivateFile) for each in root.handlers):
        return file
    try:
        make_private_folder(file.parent)
        handler = _PrivateFile(
            file,
            maxBytes=MAX_BYTES,
            backupCount=BACKUPS,
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError as e:
        raise ZkchatError(
            f"the log {file} cannot be written: {reason(e)}",
            "Leave out --verbose, or set ZKCHAT_HOME.",
        ) from e
    secrets: list[str] = []
    for name, value in env.items():
        # A path is no secret
        if _SECRET_NAME.search(name) and not os.path.lexists(value):
            secrets.append(value)
    with suppress(ConfigError):
        secrets += read_keys(paths.app_paths(env)).values()
    handler.setFormatter(_RedactingFormatter(secrets))
    root.addHandler(handler)
    if only_errors:
        handler.setLevel(logging.ERROR)
        return file
    root.setLevel(logging.INFO)
    logging.getLogger("zkchat_cli").setLevel(logging.DEBUG)
    logging.captureWarnings(True)
    return file


class _PrivateFile(RotatingFileHandler):
    # It has no type, because the type of logging's method changes between versions
    def _open(self):  # type: ignore[no-untyped-def]
        def private(path: str, flags: int) -> int:
            # O_NONBLOCK does not wait for the reader of a pipe
            return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)

        return open(
            self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=private
        )


class _RedactingFormatter(logging.Formatter):
    """Removes the secrets of the environment from each line, and anything that looks like a key."""

    def __init__(self, secrets: list[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._mask = SecretMask(secrets)

    def format(self, record: logging.LogRecord) -> str:
        text = self._mask(super().format(record))
        return API_KEY.sub(MASK, _SECRET_HEADER.sub(rf"\1\2{MASK}", text))


class _OneLineFormatter(logging.Formatter):
    """Errors without tracebacks; with --verbose they are in the log file."""

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return f"  {ei[0].__name__}: {ei[1]}"


def log_to_stderr() -> None:
    """Send warnings of zkchat and of libraries to standard error, for a command that speaks a
    protocol on standard output.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OneLineFormatter("zkchat: %(message)s"))
    logging.getLogger().addHandler(handler)
