"""What a shell offers after `zkchat …`, by the scripts that `--show-completion` prints, and what keeps it quick and harmless."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from building import NOON
from conftest import Program

from zkchat_cli.agents import loader
from zkchat_cli.cli import app
from zkchat_cli.models import Conversation
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.terminal import shell

HOSTILE = "what is $(touch pwned) `touch pwned` 'x' \"y\" ); touch pwned; #"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """zkchat's own folder, with two conversations, and with what a first Tab keeps."""
    made = tmp_path_factory.mktemp("home")
    store = ChatSessionStore.open(made / "data" / "conversations.db")
    for id_, title, day in (("aa11", "On compost", "2026-01-02"), ("ab22", HOSTILE, "2026-01-03")):
        store.start(Conversation(id=id_, vault="/notes", title=title, created_at=NOON, updated_at=f"{day}T00:00:00Z"))
    store.close()
    tab(made, "zkchat ")
    return made


def never() -> Iterator[str]:
    raise AssertionError("nobody is asked for models")


def tab(home: Path, line: str, kind: str = "zsh", models: Callable[[], Iterator[str]] = never) -> str | None:
    """What a Tab at the end of a line says; bash's words are the line's."""
    words = line.split(" ")
    asked = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": line}
    env = {"ZKCHAT_HOME": str(home), shell.VARIABLE: f"complete_{kind}", **asked}
    return shell.answer(env, lambda: typer.main.get_command(app.app), models)


def offered(home: Path, line: str, **more: Callable[[], Iterator[str]]) -> list[str]:
    said = tab(home, line, "fish", **more)
    assert said is not None
    return [each.partition("\t")[0] for each in said.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("zkchat co", ["context", "config"]),
        ("zkchat keys set ", ["anthropic", "openai"]),
        ("zkchat tokens --encoding c", ["cl100k_base"]),
        ("zkchat context s", ["show", "stats", "summary"]),
        ("zkchat ask --stra", ["--strategy"]),
        ("zkchat ask --strategy ", ["discard", "hybrid", "summarize"]),
        ("zkchat ask --strategy=h", []),
        ("zkchat --no-color context export --format h", ["html"]),
        ("zkchat context export --format json a", ["aa11", "ab22"][::-1]),
        ("zkchat context show aa", ["aa11"]),
        ("zkchat context show aa11 ", []),
        ("zkchat ask --cid ab", ["ab22"]),
        ("zkchat ask -- --st", []),
        ("zkchat config get references.m", ["references.max_displayed", "references.model_summaries"]),
        ("zkchat config set references.max_displayed ", []),
        ("zkchat memory forget ", []),
        ("zkchat nonsense ", []),
        ("zkchat vault search --vault /", []),
        ('zkchat context show "a', ["ab22", "aa11"]),
    ],
)
def test_what_may_come_next_is_offered(home: Path, line: str, expected: list[str]) -> None:
    assert sorted(offered(home, line)) == sorted(expected)


def test_agents_are_offered_as_they_are_now(home: Path) -> None:
    before = offered(home, "zkchat ask --agent ")
    assert before == loader.list_names(home / "config" / "agents")
    (home / "config" / "agents").mkdir(parents=True)
    (home / "config" / "agents" / "gardener.toml").touch()
    assert offered(home, "zkchat agent show ") == offered(home, "zkchat ask --agent ") == sorted([*before, "gardener"])


def test_options_that_stand_anywhere_are_among_a_commands_own(home: Path) -> None:
    assert {"--vault", "--model", "--json", "--no-color", "--verbose"} <= set(offered(home, "zkchat ask --"))


def test_models_are_asked_for_once_in_a_while(home: Path) -> None:
    names = ["offline", "ollama/qwen3:8b", "ollama/llama3", "openai/"]
    assert offered(home, "zkchat ask --model ol", models=lambda: iter(names)) == ["ollama/qwen3:8b", "ollama/llama3"]
    assert offered(home, "zkchat ask -m off") == ["offline"]
    assert tab(home, "zkchat ask --model ollama/qwen3 : 8", "bash") == "8b", "bash ends words at colons"
    assert tab(home, "zkchat ask --model = off", "bash") == "offline"
    assert tab(home, "zkchat ask --model =", "bash") is not None


def test_each_shell_is_answered_in_its_own_way(home: Path) -> None:
    assert tab(home, "zkchat context show aa", "bash") == "aa11"
    assert tab(home, "zkchat context show aa", "zsh") == """_arguments '*: :(("aa11":"On compost 2026-01-02"))'"""
    assert tab(home, "zkchat context show aa", "fish") == "aa11\tOn compost 2026-01-02"
    assert [tab(home, "zkchat ask --vault /", kind) for kind in ("bash", "zsh", "fish")] == ["", "_files -/", ""]
    assert tab(home, "zkchat ask -o x", "zsh") == "_files"
    assert tab(home, "zkchat nonsense x", "zsh") == ""


def test_what_only_typer_knows_is_left_to_it(home: Path) -> None:
    env = {"ZKCHAT_HOME": str(home), shell.VARIABLE: "source_bash"}
    assert shell.answer(env, lambda: None, never) is None
    assert shell.answer({**env, shell.VARIABLE: "complete_pwsh"}, lambda: None, never) is None
    kept = json.loads((home / "cache" / "completion.json").read_text())
    kept["tree"]["commands"]["tokens"]["tree"]["arguments"] = [{"values": "typer", "many": False}]
    (home / "cache" / "completion.json").write_text(json.dumps(kept))
    assert tab(home, "zkchat tokens ") is None


def test_nothing_that_goes_wrong_is_seen(home: Path, tmp_path: Path) -> None:
    assert shell.answer({shell.VARIABLE: "complete_bash"}, lambda: None, never) == ""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "completion.json").write_text("[1]")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "conversations.db").write_text("no database")
    assert "context" in offered(tmp_path, "zkchat ")
    assert offered(tmp_path, "zkchat context show ") == []
    (tmp_path / "cache" / "models.json").write_text('{"at": "yesterday"}')
    assert tab(tmp_path, "zkchat ask --model ", "bash") == ""


# the shells themselves


def script_for(zkchat: Program, name: str, home: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """A shell's script, and an environment in which `zkchat` is this program."""
    program = folder / "bin" / "zkchat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m zkchat_cli "$@"\n')
    program.chmod(0o755)
    made = folder / f"completion.{name}"
    made.write_text(zkchat("--show-completion", name).out)
    path = f"{program.parent}:{os.environ['PATH']}"
    return made, {**zkchat.environment, "PATH": path, "ZKCHAT_HOME": str(home), "HOME": str(folder), "TERM": "dumb"}


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"there is no {name} here")


def said_by(command: list[str], env: dict[str, str], folder: Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, timeout=60, check=True)
    assert done.stderr == ""
    assert not (folder / "pwned").exists()
    return done.stdout.splitlines()


@needs("bash")
def test_bash_completes(zkchat: Program, home: Path, tmp_path: Path) -> None:
    script, env = script_for(zkchat, "bash", home, tmp_path)
    press = f"source {script}; COMP_WORDS=(zkchat context show a); COMP_CWORD=3; _zkchat_completion zkchat; "
    press += "printf '%s\\n' \"${COMPREPLY[@]}\""
    assert said_by(["bash", "--norc", "-c", press], env, tmp_path) == ["ab22", "aa11"]


@needs("fish")
def test_fish_completes(zkchat: Program, home: Path, tmp_path: Path) -> None:
    script, env = script_for(zkchat, "fish", home, tmp_path)
    lines = said_by(["fish", "--no-config", "-c", f"source {script}; complete -C 'zkchat context show a'"], env, tmp_path)
    assert lines == ["aa11\tOn compost 2026-01-02", "ab22\twhat is touch pwned touch pwned ’x’ y touch pwned 2026-01-03"]


@needs("zsh")
def test_zsh_completes(zkchat: Program, home: Path, tmp_path: Path) -> None:
    script, env = script_for(zkchat, "zsh", home, tmp_path)
    press = f"""compdef() {{ }}; _arguments() {{ eval "ws=( ${{${{1#*: :\\(\\(}}%\\)\\)}} )"; print -l $ws }}; source {script}
words=(zkchat context show a); CURRENT=4; _zkchat_completion"""
    lines = said_by(["zsh", "-f", "-c", press], env, tmp_path)
    assert lines == ["ab22:what is touch pwned touch pwned ’x’ y touch pwned 2026-01-03", "aa11:On compost 2026-01-02"]
