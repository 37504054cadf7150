"""What a command imports, what each registry contains, and what the files beside the code say."""

import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path

import grimp
import pytest
from conftest import Program

from zkchat_cli import exporters, slash, tools
from zkchat_cli.cli.commands import COMMANDS
from zkchat_cli.config import loader, provider_tables
from zkchat_cli.context import strategies
from zkchat_cli.llm import embedders, providers
from zkchat_cli.registry import Registry

ROOT = Path(__file__).parent.parent
HEAVY = (
    "mojentic",
    "openai",
    "anthropic",
    "ollama",
    "numpy",
    "prompt_toolkit",
    "pydantic",
    "rich",
    "tiktoken",
    "sqlite3",
    "httpx",
    "httpx2",
    "onnxruntime",
    "tokenizers",
    "Stemmer",
    "psycopg",
    "zkchat_cli.store.postgres",
)
UNUSED_OFFLINE = (
    "zkchat_cli.chat.compactor",
    "zkchat_cli.llm.http_client",
    "zkchat_cli.llm.providers.openai",
    "zkchat_cli.llm.sentence_models",
    "zkchat_cli.summarization.extractive",
    "zkchat_cli.vault.edit.note_editor",
    "pickle",
    "regex",
    "typer._adapters",
)


def loaded_by(program: Program, *arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    tell = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
        "sys.argv = ['zkchat', *sys.argv[1:]]"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{tell}; from zkchat_cli.cli.app import run; run()", *arguments],
        capture_output=True,
        text=True,
        env=program.environment,
        cwd=program.vault,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )
    return set(done.stderr.split())


def test_the_help_of_every_command_loads_nothing_heavy() -> None:
    every_help = """if True:
        import contextlib, io, sys
        from zkchat_cli.cli.app import run
        from zkchat_cli.cli.commands import COMMANDS
        def say(*words):
            sys.argv = ["zkchat", *words, "--help"]
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
                run()
            found = said.getvalue().partition("Commands:")[2].splitlines()
            named = [line for line in found if line.startswith("  ") and line[2:3].strip()]
            return [line.split()[0] for line in named]
        say()
        asked = 0
        for command in COMMANDS.names():
            for part in say(command):
                say(command, part)
                asked += 1
        assert asked > 40, asked
        print(*sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", every_help],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not set(done.stdout.split()) & {
        *HEAVY,
        "tomlkit",
        "zkchat_cli.app.factory",
        "zkchat_cli.models.messages",
    }


def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_word() -> None:
    pressed_meanwhile = """if True:
        import os, signal, sys
        class Pressed:
            def find_spec(self, name, path=None, target=None):
                if name == "typer.core":
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Pressed())
        import zkchat_cli.cli.app
    """
    done = subprocess.run(
        [sys.executable, "-c", pressed_meanwhile],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_the_first_prompt_needs_neither_pydantic_nor_rich() -> None:
    parsed_and_ready = """if True:
        import sys, typer
        from zkchat_cli.cli.app import app
        root = typer.main.get_command(app)
        context = root.make_context("zkchat", ["chat"])
        chat = root.get_command(context, "chat")
        typed = ["-v", "notes", "--model", "offline", "--demo"]
        values = chat.make_context("chat", typed, parent=context).params
        assert str(values["vault"]) == "notes", values
        assert values["model"] == "offline", values
        assert values["demo"] is True, values
        assert values["agent"] is None, values
        import zkchat_cli.terminal.repl
        print(*sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", parsed_and_ready],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not set(done.stdout.split()) & (set(HEAVY) - {"prompt_toolkit"})


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        ("--version", HEAVY),
        ("config path", ("tomlkit", "zkchat_cli.config.schema", "zkchat_cli.app.factory")),
        (
            "context memory",
            (
                "zkchat_cli.chat.turn_runner",
                "zkchat_cli.citations.marks",
                "zkchat_cli.llm.remote_model",
                "tiktoken",
            ),
        ),
        ("vault search filter", ("numpy", "httpx", "onnxruntime", "tokenizers")),
        ("ask filter", {*HEAVY, *UNUSED_OFFLINE} - {"pydantic", "sqlite3", "Stemmer"}),
    ],
)
def test_a_command_does_not_load_what_it_does_not_need(
    zkchat: Program, arguments: str, unneeded: Collection[str]
) -> None:
    assert not loaded_by(zkchat, *arguments.split()) & {*unneeded}


def test_search_by_meaning_loads_its_libraries_only_when_it_computes(zkchat: Program) -> None:
    zkchat.env |= {"ZKCHAT_SEMANTIC__PROVIDER": "ollama", "OLLAMA_HOST": "127.0.0.1:1"}
    assert not loaded_by(zkchat, "vault", "status") & {"numpy", "httpx"}


@pytest.mark.parametrize(
    "registry",
    [
        COMMANDS,
        slash.COMMANDS,
        tools.BUILTIN_TOOLS,
        tools.SERVED_TOOLS,
        strategies.STRATEGIES,
        providers.PROVIDERS,
        embedders.EMBEDDERS,
        exporters.EXPORTERS,
    ],
)
def test_every_plugin_module_declares_its_constant_and_has_a_docstring(
    registry: Registry[object],
) -> None:
    for name in registry.names():
        assert getattr(registry.load(name), "name", name) in (name, None)
        assert registry.summary_line(name)


@pytest.mark.parametrize("name", ["plum", "base", "", "html.markdown", "../html"])
def test_a_name_that_no_plugin_has_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        exporters.EXPORTERS.load(name)


def test_the_example_settings_are_the_defaults() -> None:
    text = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    written = dict(loader.flatten_tables(tomllib.loads(text)))
    assert written == loader.default_values()


def test_every_setting_is_described_in_the_example() -> None:
    text = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    for key in loader.default_values():
        assert f"# {provider_tables.describe_setting(key)}" in text


def test_the_example_says_which_settings_a_vault_can_make() -> None:
    head = (ROOT / "config.example.toml").read_text(encoding="utf-8").partition("\n\n")[0]
    for key in loader.VAULT_KEYS:
        assert key in head or f"[{key.partition('.')[0]}]" in head


def test_the_picture_in_the_documentation_is_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    picture = (
        (ROOT / "docs" / "architecture.md")
        .read_text(encoding="utf-8")
        .split("```text\n", 1)[1]
        .split("\n```", 1)[0]
    )
    assert picture.splitlines() == [
        layer.replace("zkchat_cli.", "") for layer in layers if layer != "zkchat_cli.__main__"
    ]


def test_the_documentation_describes_every_package() -> None:
    table = (
        (ROOT / "docs" / "architecture.md")
        .read_text(encoding="utf-8")
        .split("| --- | --- |\n", 1)[1]
        .split("\n\n", 1)[0]
    )
    package = ROOT / "zkchat_cli"
    found = {
        path.stem
        for path in package.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert {row.split("`")[1] for row in table.splitlines()} == {
        name for name in found if not name.startswith("__")
    }


def test_no_module_imports_itself_in_a_circle() -> None:
    """Deferred imports and those for annotations only count, too: two modules that need each other
    are one module, or a Protocol is missing.
    """
    graph = grimp.build_graph("zkchat_cli", exclude_type_checking_imports=False, cache_dir=None)
    circular = {
        module
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        if graph.chain_exists(importer=imported, imported=module)
    }
    assert circular == set()


def test_every_file_that_the_documentation_names_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / "zkchat_cli" / name).exists()] == []
