"""README and docs/ are true: what they name exists, what exists they name, and their examples are
what the program prints.

Nothing here is a list of names: they come from the registries, the settings, typer's own tree and
the source.

`python tests/test_documents.py` puts the transcripts of today into the documents.
"""

import ast
import re
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from conftest import Syntax
from test_help import everything
from transcript_player import Transcript

from zkchat_cli import exporters, slash, tools
from zkchat_cli.agents.loader import BUILT_IN_FOLDER, AgentFileSchema
from zkchat_cli.app.settings import NO_EMBEDDER
from zkchat_cli.cli import app
from zkchat_cli.config import loader
from zkchat_cli.context import strategies
from zkchat_cli.errors import ProviderErrorKind
from zkchat_cli.llm import embedders, providers
from zkchat_cli.slash.builtin import help as slash_help
from zkchat_cli.store.port import SessionStore
from zkchat_cli.vault.search import query

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "\n".join(file.read_text(encoding="utf-8") for file in DOCUMENTS)
BLOCK = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
PROSE = BLOCK.sub("", TEXT)
DEMO = "\n".join(
    file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "zkchat_cli" / "demo").rglob("*.md"))
)
EVERY_PROSE = PROSE + BLOCK.sub("", DEMO)
TRANSCRIPT = re.compile(
    r"(<!-- transcript: (\S+)(?: (\d+)-(\d+))? -->\n```text\n)(.*?)(\n```)", re.DOTALL
)
"""A transcript in a document, or some of its steps, counted from 1."""
ESCAPED_BAR = "\\|"


def section(heading: str) -> str:
    """The text under a heading, up to the next one of any depth."""
    assert f"\n{PROSE}".count(f"\n{heading}\n") == 1, heading
    return re.split(r"\n#+ ", f"\n{PROSE}".split(f"\n{heading}\n", 1)[1], maxsplit=1)[0]


def rows(text: str) -> list[list[str]]:
    """The cells of each row of the tables in a text, without their heads."""
    found = [
        line
        for line in text.splitlines()
        if line.startswith("| ") and not re.fullmatch(r"\| [a-z ]+ \|.*", line)
    ]
    return [
        [cell.replace(ESCAPED_BAR, "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in found
    ]


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def first_column(heading: str) -> set[str]:
    """The code in the first column of the tables under a heading."""
    return {each for row in rows(section(heading)) for each in code(row[0])}


# the shell's commands


def test_the_reference_and_the_man_page_are_generated_from_the_code() -> None:
    documents = runpy.run_path(str(ROOT / "docs" / "generate.py"))["documents"]()
    assert len(documents) > 5
    for file, text in documents.items():
        assert file.read_text(encoding="utf-8") == text, "python docs/generate.py writes it anew"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_shown_as_it_is_written() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", str(ROOT / "docs" / "zkchat.1")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "zkchat context show --turn 3" in done.stdout


def test_every_call_of_zkchat_is_one() -> None:
    """Wherever a document, a note of the demo or a help writes `zkchat …`, the commands and options
    are there.
    """
    blocks = re.findall(r"```sh\n(.*?)```", TEXT + DEMO, re.DOTALL)
    calls = [call for each in code(EVERY_PROSE) for call in re.findall(r"^zkchat [a-z].*", each)]
    epilogs = [command.epilog or "" for _, command, _ in everything()]
    calls += [
        call for each in (*blocks, *epilogs) for call in re.findall(r"\bzkchat [a-z][^#\n]*", each)
    ]
    assert len(calls) > 60
    root = typer.main.get_command(app.app)
    for call in calls:
        command: Any = root
        takes_value = False
        for word in re.sub(r"\"[^\"]*\"|'[^']*'|\|.*", " ", call).split()[1:]:
            if word.startswith("-") and word != "-":
                named = [
                    parameter
                    for each in (command, root)
                    for parameter in each.params
                    if word in (*parameter.opts, *parameter.secondary_opts)
                ]
                assert named, call
                takes_value = not getattr(named[0], "is_flag", False)
            elif takes_value:
                takes_value = False
            elif hasattr(command, "list_commands"):
                command = command.get_command(typer.Context(command), word)
                assert command is not None, call


def test_every_check_of_doctor_is_listed() -> None:
    code = (ROOT / "zkchat_cli/cli/commands/doctor/checks.py").read_text(encoding="utf-8")
    checked = set(re.findall(r'\("(\w+)", (?:lambda|partial|_check)', code))
    assert len(checked) == 7
    assert checked - set(re.findall(r"[a-z]+", section("## `zkchat doctor`"))) == set()


# the chat


def test_each_slash_command_has_a_position_of_its_own_in_the_help() -> None:
    positions = [(command.topic, command.order) for command in slash.commands()]
    assert len(set(positions)) == len(positions)


def test_every_key_of_the_help_is_listed() -> None:
    assert {key for key, _ in slash_help.KEYS} <= first_column("## Keys")


def test_every_way_to_write_a_slash_command_names_one_and_the_demo_names_all() -> None:
    named = {
        each[1:].split()[0]
        for each in code(EVERY_PROSE)
        if re.match(r"/[a-z]+\b(?!/)", each) and not each.startswith("/commands")
    }
    assert {slash.find(name).name for name in named} == {
        command.name for command in slash.commands()
    }
    assert {command.name for command in slash.commands()} <= set(re.findall(r"`/([a-z]+)", DEMO))


# registries


@pytest.mark.parametrize(
    ("heading", "known"),
    [
        ("# What the model may call", {tool.name for tool in tools.load_tools(unsafe=True)}),
        ("## Search by meaning", {NO_EMBEDDER, "semantic.provider", *embedders.names()}),
        ("# How context works", set(strategies.names())),
        ("# Export and import", set(exporters.names())),
        (
            "## Exit codes",
            {
                str(code)
                for code in (0, app.INTERRUPTED, app.OUTPUT_CLOSED, *app.EXIT_CODES.values())
            },
        ),
        (
            "## When a model fails",
            set(get_args(ProviderErrorKind)) - {"unknown_provider", "not_installed", "bad_script"},
        ),
    ],
)
def test_everything_of_a_registry_is_listed_and_no_other(heading: str, known: set[str]) -> None:
    assert first_column(heading) == known


def test_tools_that_write_are_marked_and_no_other() -> None:
    marked = {
        code(row[0])[0]
        for row in rows(section("# What the model may call"))
        if row[1].startswith("with `--unsafe`")
    }
    assert marked == {tool.name for tool in tools.load_tools(unsafe=True) if tool.writes}


def test_every_provider_is_listed_and_no_other() -> None:
    assert {entry.split("/")[0] for entry in first_column("# Providers")} == set(providers.names())


def test_every_built_in_agent_and_every_key_of_one_is_listed_and_no_other() -> None:
    keys = {key.partition(".")[0] for key in loader.default_values(AgentFileSchema)}
    told = {each.removesuffix(".…") for each in first_column("# Agents")}
    assert told == {*(file.stem for file in BUILT_IN_FOLDER.glob("*.toml")), *keys}


def test_every_way_to_write_a_query_means_what_it_says() -> None:
    today = date(2026, 11, 22)
    ways = [
        query.parse_query(each, today)
        for row in rows(section("# Search and links"))
        for each in code(row[0])
    ]
    dated = [way for way in ways if way.period]
    assert [way.words for way in ways if way not in dated] == [
        ("boolean", "filters"),
        (),
        (),
        (),
        (),
        (),
    ]
    assert [way.phrases for way in ways if way.phrases] == [(("due", "before"),)]
    assert [way.without for way in ways if way.without] == [(("sorting",),), (("group", "by"),)]
    assert [way.filters for way in ways if way.filters] == [
        (("tag", "project"),),
        (("path", "archive"),),
    ]
    assert len(dated) == 7
    assert not any(way.words for way in dated)


# settings and environment


def test_every_setting_that_the_text_names_exists() -> None:
    known = loader.default_values()
    tables = {key.partition(".")[0] for key in known if "." in key}
    named = {
        each.split()[0]
        for each in code(EVERY_PROSE)
        if re.match(rf"(?:{'|'.join(tables)})\.[a-z_]+(?: |$)", each)
    }
    parts = {
        f"store.{name}" for name in (*SessionStore.__annotations__, "sharing", "sqlite", "postgres")
    }
    assert named - set(known) - parts == set()


def test_every_environment_variable_is_listed_and_no_other(syntax: Syntax) -> None:
    told = {each for row in rows(section("# Settings")) if len(row) == 2 for each in code(row[0])}
    read = set(_read_from_the_environment(syntax))
    assert {name for name in read if not name.startswith("_")} - told == set()
    texts = [node.value for module in syntax.values() for node in module.nodes if _is_text(node)]
    named = {name for text in texts for name in re.findall(r"\b[A-Z_]{4,}\b", text)}
    settings = {f"ZKCHAT_{key.upper().replace('.', '__')}" for key in loader.default_values()}
    assert told - named - read - settings == set()


def _read_from_the_environment(syntax: Syntax) -> Iterator[str]:
    for module in syntax.values():
        for node in module.nodes:
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="get", value=where),
                    args=[ast.Constant(value=str(name)), *_],
                ) if _is_environment(where):
                    yield name
                case ast.Subscript(value=where, slice=ast.Constant(value=str(name))) if (
                    _is_environment(where)
                ):
                    yield name
    yield from (
        default for key, default in loader.default_values().items() if key.endswith(".key_variable")
    )


def _is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("env", "environ")
    return False


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


# what goes wrong


def test_every_error_that_can_be_looked_up_is_one_of_the_programs(syntax: Syntax) -> None:
    """What stands between the … of an error is a piece of a text in the source."""
    source = "\n".join(_texts(syntax))
    for row in rows(section("# Troubleshooting")):
        for piece in (
            piece.strip(" @[]:") for each in code(row[0])[:1] for piece in re.split("…", each)
        ):
            assert piece in source, row[0]


def _texts(syntax: Syntax) -> Iterator[str]:
    """All texts of the source, those with values in them with nothing in their place."""
    for module in syntax.values():
        for node in module.nodes:
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    str(part.value) for part in node.values if isinstance(part, ast.Constant)
                )
            elif _is_text(node):
                yield node.value


# examples and links


def shown(name: str, first: str, last: str) -> str:
    """What a document shows of a transcript: everything that is typed and seen, or these steps of
    it.
    """
    transcript = Transcript.read(
        (ROOT / "tests" / "transcripts" / f"{name}.txt").read_text(encoding="utf-8")
    )
    steps = transcript.steps[int(first) - 1 : int(last)] if first else transcript.steps
    return "\n\n".join("\n".join(filter(None, step)) for step in steps)


def test_every_example_is_a_transcript_that_is_played() -> None:
    examples = TRANSCRIPT.findall(TEXT)
    assert len(examples) == TEXT.count("<!-- transcript:") > 5
    for _, name, first, last, text, _ in examples:
        assert text == shown(name, first, last), (
            "python tests/test_documents.py writes the examples anew"
        )


def test_every_link_of_the_readme_leads_somewhere() -> None:
    """mkdocs checks those of the other documents."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", DOCUMENTS[0].read_text(encoding="utf-8")):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_readme_stays_short() -> None:
    assert len(DOCUMENTS[0].read_text(encoding="utf-8").splitlines()) <= 250


if __name__ == "__main__":
    for document in DOCUMENTS:
        before = document.read_text(encoding="utf-8")
        after = TRANSCRIPT.sub(
            lambda match: match[1] + shown(match[2], match[3] or "", match[4] or "") + match[6],
            before,
        )
        if after != before:
            document.write_text(after, encoding="utf-8")
