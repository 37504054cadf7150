"""A new export format is one new file: the commands, completion and messages know it at once."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import AppFixture

from zkchat_cli import exporters, slash
from zkchat_cli.errors import UsageError

TEXT_FORMAT = '''"""`plain`: who said what, a line each."""

from zkchat_cli.exporters.base import Exporter, current_branch


def export(archive):
    lines = [f"{message.role}: {message.content}" for message in current_branch(archive)]
    return "\\n".join(lines) + "\\n"


EXPORTER = Exporter(suffix=".txt", export=export)
'''


@pytest.fixture
def plain_format(tmp_path: Path) -> Iterator[str]:
    """A file beside those of the package."""
    folder = tmp_path / "exporters"
    folder.mkdir()
    (folder / "plain.py").write_text(TEXT_FORMAT, encoding="utf-8")
    exporters.__path__.append(str(folder))
    try:
        yield "plain"
    finally:
        exporters.__path__.remove(str(folder))
        sys.modules.pop("zkchat_cli.exporters.plain", None)


def test_the_chat_exports_in_a_new_format(
    app: AppFixture, plain_format: str, tmp_path: Path
) -> None:
    session = app.session()
    list(session.send("What is a filter?"))
    file = tmp_path / "talk.txt"
    slash.find("export").run(session, f"{plain_format} {file}")
    assert file.read_text(encoding="utf-8").startswith("user: What is a filter?\nassistant: ")


def test_a_new_format_is_completed_and_named_among_the_valid_ones(
    app: AppFixture, plain_format: str
) -> None:
    assert plain_format in slash.find("export").values(app.session())
    with pytest.raises(UsageError) as refused:
        exporters.exporter("word")
    assert plain_format in refused.value.hint


def test_a_new_format_is_described_without_importing_it(plain_format: str) -> None:
    assert exporters.EXPORTERS.summary_line(plain_format) == "`plain`: who said what, a line each."
    assert "zkchat_cli.exporters.plain" not in sys.modules
