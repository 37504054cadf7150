"""The console script's entry point: `zkchat` and `python -m zkchat_cli` run the same program."""

from zkchat_cli.cli.app import app, run

__all__ = ["app", "run"]
