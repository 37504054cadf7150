"""The README is true: its commands, settings and providers exist, and its transcript is what the program prints."""

import re
from pathlib import Path
from typing import get_args

from conftest import Program

from zkchat_cli import cli, config, drawer, slash, tools, wiring
from zkchat_cli.errors import ProviderErrorKind
from zkchat_cli.llm import embedders, providers
from zkchat_cli.vault import search

MEASURED = False

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def first_column(heading: str) -> set[str]:
    """The code in the first column of the table under a heading."""
    section = README.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    return set(re.findall(r"^\| `([^`]+)`", section, re.MULTILINE))


def test_every_command_is_there_and_no_other() -> None:
    assert first_column("## Commands") == {f"zkchat {name}" for name in drawer.names(cli)}


def test_every_slash_command_is_there_and_no_other() -> None:
    assert {entry.split()[0] for entry in first_column("### In the chat")} == {f"/{name}" for name in slash.names()}


def test_every_tool_is_there_and_no_other() -> None:
    assert first_column("### What the model may call") == set(drawer.names(tools))


def test_every_command_of_the_notes_is_there(zkchat: Program) -> None:
    row = next(line for line in README.splitlines() if line.startswith("| `zkchat vault`"))
    listed = zkchat("vault", "--help").out.split("Commands:\n", 1)[1]
    assert {line.split()[0] for line in listed.splitlines() if line[2:3].strip()} <= set(re.findall(r"`([a-z]+)[` ]", row))


def test_every_provider_is_there_and_no_other() -> None:
    assert {entry.split("/")[0] for entry in first_column("## Providers")} == set(providers.names())


def test_every_way_in_which_a_server_can_fail_is_there_and_no_other() -> None:
    never_a_servers = {"unknown_provider", "not_installed", "bad_script"}
    assert first_column("## When a model fails") == set(get_args(ProviderErrorKind)) - never_a_servers


def test_every_embedder_is_there_and_no_other() -> None:
    assert first_column("## Search by meaning") == {"semantic.provider", "none", *embedders.names()}


def test_every_way_to_write_a_query_means_what_it_says() -> None:
    section = README.split("\n## Search and links\n", 1)[1].split("\n#", 1)[0]
    cells = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    ways = [search.analyse(code) for cell in cells for code in re.findall("`([^`]+)`", cell)]
    assert [way.words for way in ways] == [("boolean", "filters"), (), (), (), (), ()]
    assert [way.phrases for way in ways] == [(), (("due", "before"),), (), (), (), ()]
    assert [way.without for way in ways] == [(), (), (("sorting",),), (("group", "by"),), (), ()]
    assert [(way.tags, way.paths) for way in ways[-2:]] == [(("project",), ()), ((), ("archive",))]


def test_every_setting_is_there_with_its_default_and_description() -> None:
    import json

    for key, default in config.keys(wiring.schema()).items():
        assert f"| `{key}` | `{json.dumps(default)}` | {config.describe(key, wiring.schema())} |" in README
    assert first_column("## Which notes, which settings") == set(config.keys(wiring.schema()))


def test_the_transcript_is_what_the_demo_says(zkchat: Program) -> None:
    block = README.split("<!-- transcript", 1)[1].split("```text\n", 1)[1].split("```", 1)[0]
    typed = re.findall(r"^› (.*)$", block, re.MULTILINE)
    expected = re.sub(r"^› .*\n\n?", "", block, flags=re.MULTILINE)
    assert typed
    done = zkchat("chat", "--demo", stdin="".join(line + "\n" for line in typed))
    assert done.exit_status == 0
    squeeze = lambda text: [line for line in text.splitlines() if line.strip()]  # noqa: E731
    assert squeeze(done.out) == squeeze(expected)


def test_the_shell_commands_of_the_readme_parse(zkchat: Program) -> None:
    for command in re.findall(r"`zkchat ([a-z]+ [a-z]+)", README):
        group, sub = command.split()
        if group in ("context", "vault", "config"):
            assert zkchat(group, sub, "--help").exit_status == 0, command


def test_the_picture_of_the_house_is_the_contract_that_ci_runs() -> None:
    import tomllib

    contracts = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    drawn = README.split("```text\nmain > cli", 1)[1].split("\n\n", 1)[0]
    rows = [row.strip() for row in ("main > cli" + drawn).replace("\n", " ").split(">")]
    expected = [layer.replace("zkchat_cli.", "") for layer in layers if layer != "zkchat_cli.__main__"]
    assert [r for r in rows if r] == expected
