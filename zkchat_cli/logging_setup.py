"""The log file of `--verbose`: what zkchat and its libraries do, in the data directory, small, private, and without a key in it."""

import logging
import os
import re
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path

from zkchat_cli import paths
from zkchat_cli.credentials import stored_key_values
from zkchat_cli.errors import ZkchatError
from zkchat_cli.llm.http_errors import API_KEY

FILE = "zkchat.log"
LARGEST, KEPT = 1_000_000, 3
"""Bytes of one file, and how many older ones are kept."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_HEADER = re.compile(r"(authorization|x-api-key|bearer)(['\"]?\s*[:=,]?\s*['\"]?)(bearer\s+)?[^\s'\",}]+", re.IGNORECASE)
SHORTEST_SECRET = 6


def start_logging(env: Mapping[str, str]) -> Path:
    """Log to the file in the data directory from here on; returns where. Raises ZkchatError when it cannot be written."""
    file = paths.app_paths(env).data_dir / FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler = _PrivateFile(file, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8", errors="backslashreplace")
    except OSError as e:
        raise ZkchatError(f"the log {file} cannot be written: {e.strerror or e}", "Leave out --verbose, or set ZKCHAT_HOME.") from e
    secrets = [value for name, value in env.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET]
    secrets += stored_key_values(paths.app_paths(env))
    handler.setFormatter(_Redacted(secrets))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("zkchat_cli").setLevel(logging.DEBUG)
    logging.captureWarnings(True)
    return file


class _PrivateFile(RotatingFileHandler):
    """Nobody else may read it."""

    def _open(self):  # type: ignore[no-untyped-def]  # logging's own type of it changes between versions
        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=_opened_privately)


def _opened_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _Redacted(logging.Formatter):
    """Every line without the secrets of the environment, and without what looks like one."""

    def __init__(self, secrets: list[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = sorted(secrets, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return API_KEY.sub("…", _SECRET_HEADER.sub(r"\1\2…", text))
