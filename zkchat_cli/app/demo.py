"""The built-in demo vault, copied to a scratch folder."""

from importlib.resources import as_file, files
from pathlib import Path

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.paths import AppPaths
from zkchat_cli.vault.filesystem import LARGEST_NOTE


def demo_folder(where: AppPaths) -> Path:
    """Where the copy of the built-in notes is, or would be."""
    return where.cache_dir / "demo"


def demo_vault(where: AppPaths) -> Path:
    """The built-in notes, copied to a scratch folder that may be written to; an unchanged copy is used again."""
    folder = demo_folder(where)
    try:
        with as_file(files("zkchat_cli") / "demo") as source:
            for file in source.rglob("*.md"):
                copy = folder / file.relative_to(source)
                text = file.read_bytes()
                if not copy.exists() or read_file(copy, LARGEST_NOTE) != text:
                    atomic_write(copy, text, private=True)
    except OSError as e:
        raise VaultError(
            f"the demo notes cannot be copied to {folder}: {reason(e)}", "Set ZKCHAT_HOME to a folder you may write to."
        ) from e
    return folder
