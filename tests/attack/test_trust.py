"""Attacks on what zkchat trusts: a vault's own settings, files that are no files, memory files,
other local users, and echoed keys.
"""

import ast
import base64
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from conftest import Program, Syntax, needs_permissions, write_notes
from factories import COUNTER, AppFixture, DeltaModel, reply, run_turn, tool_reply
from pytest_httpserver import HTTPServer
from terminal_screen import CTRL_C, Chat, Script

from zkchat_cli import paths
from zkchat_cli.agents.loader import write_agent_file
from zkchat_cli.app.editor import open_note_command
from zkchat_cli.config import loader
from zkchat_cli.config.credentials import write_keys
from zkchat_cli.errors import ConfigError
from zkchat_cli.events import ChangeDecided
from zkchat_cli.memory.memory_paths import MAX_PATHS
from zkchat_cli.memory.project import MemoryLoader
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.store.input_history import append_line
from zkchat_cli.terminal.approval import ApprovalPrompt
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import MASK, SecretMask
from zkchat_cli.tools import load_tools
from zkchat_cli.vault.edit.approval import DECLINED, approve_notes

# a vault's own settings

SETTINGS = loader.default_values()


@pytest.mark.parametrize("key", [key for key in SETTINGS if key not in loader.VAULT_KEYS])
def test_a_vaults_file_cannot_set_what_is_not_on_the_list(tmp_path: Path, key: str) -> None:
    (tmp_path / ".zkchat.toml").write_text(f'{key} = "/dev/zero"\n')
    where = paths.app_paths({"ZKCHAT_HOME": str(tmp_path / "home")})
    with pytest.raises(ConfigError, match=f"cannot set {key}") as refused:
        loader.load_config({}, {}, where, tmp_path)
    assert f"set it in your own file {where.config_file}" in refused.value.hint


def test_no_setting_on_the_list_is_a_path_an_address_a_command_or_a_key() -> None:
    words = {key for key in loader.VAULT_KEYS if isinstance(SETTINGS[key], str)}
    # Choices, which are checked
    choices = {"context.strategy", "context.tool_filter", "llm.reasoning_effort"}
    # A name of the notes, and how their daily notes are named
    assert words - {"vault.id", "vault.daily_format"} == choices


def test_a_vault_cannot_choose_the_model(zkchat: Program) -> None:
    write_notes(
        zkchat.vault,
        {
            ".zkchat.toml": 'model = "scripted/evil.jsonl"\n',
            "evil.jsonl": '{"text": "I am the model."}\n',
        },
    )
    for command in (("ask", "x"), ("context", "show"), ("context", "stats")):
        done = zkchat(*command, timeout=20)
        assert (done.exit_status, done.out) == (2, "")
        assert "a vault's own file cannot set model" in done.err
        assert f"set it in your own file {zkchat.home}/config/config.toml" in done.err


TOML = {
    "keys of 3,000 parts": "a." * 3000 + "b = 1",
    "lists in lists": "x = " + "[" * 16_000,
    "tables in tables": "x = " + "{a = " * 6_000,
    "a number of 5,000 digits": "[context]\nmax_tokens = " + "9" * 5000,
    "more than 32 kB": "#" * 33_000,
}


@pytest.mark.parametrize("attack", TOML)
def test_hostile_settings_are_refused(zkchat: Program, attack: str) -> None:
    write_notes(zkchat.vault, {".zkchat.toml": TOML[attack]})
    write_notes(zkchat.home, {"config/agents/spy.toml": TOML[attack]})
    for done in (zkchat("ask", "x"), zkchat("agent", "show", "spy")):
        assert (done.exit_status, "cannot be read: " in done.err, "unexpected" in done.err) == (
            2,
            True,
            False,
        )
    assert "researcher" in zkchat("agent", "list", cwd=zkchat.home).out


def test_an_agents_file_that_is_a_broken_link_is_an_error(zkchat: Program) -> None:
    write_notes(zkchat.home, {"config/agents/other.toml": ""})
    (zkchat.home / "config/agents/spy.toml").symlink_to("spy.toml")
    done = zkchat("ask", "x", "--agent", "spy")
    assert (
        done.exit_status,
        "spy.toml cannot be read: too many levels of symbolic links" in done.err,
    ) == (2, True)


# files that are no files


@pytest.mark.parametrize("script", ["/dev/zero", "pipe", "large.jsonl", "."])
def test_a_script_is_a_regular_file_of_at_most_10_megabytes(zkchat: Program, script: str) -> None:
    os.mkfifo(zkchat.vault / "pipe")
    with (zkchat.vault / "large.jsonl").open("w") as large:
        large.truncate(10_000_001)
    done = zkchat("ask", "x", "--model", f"scripted/{script}", timeout=20)
    assert done.exit_status == 4
    assert f"scripted/{script} cannot be read: " in done.err
    assert "Name a UTF-8 file of JSON lines, at most 10 MB." in done.err


READ_BY = {
    "notes/Pipe.md": ("ask", "What is a filter? @Pipe.md"),
    "notes/ZKCHAT.md": ("ask", "What is a filter?"),
    "notes/Garden/WILK.md": ("ask", "Is [[Compost]] ready?"),
    "notes/.zkchat.toml": ("ask", "What is a filter?"),
    "home/config/config.toml": ("ask", "What is a filter?"),
    "home/config/agents/spy.toml": ("ask", "What is a filter?", "--agent", "spy"),
    "home/config/agents/librarian.md": ("ask", "What is a filter?", "--agent", "librarian"),
    "home/config/keys.toml": ("keys", "list"),
    "notes/pipe.json": ("context", "import", "--file", "pipe.json"),
    "notes/pipe.txt": ("tokens", "pipe.txt"),
    "notes/Link.md": ("vault", "links", "Link.md"),
    "home/data/conversations.db": ("ask", "What is a filter?"),
    "home/data/zkchat.log": ("ask", "What is a filter?", "--verbose"),
}
"""What each command reads, besides other files."""


ENDLESS = ("notes/Link.md", "home/config/config.toml", "home/data/conversations.db")
"""All files but the store are read by one function, as the test below shows."""


@pytest.mark.parametrize(
    ("file", "kind"),
    [*((file, "pipe") for file in READ_BY), *((file, "device") for file in ENDLESS)],
)
def test_no_command_waits_for_what_is_no_regular_file(
    zkchat: Program, tmp_path: Path, file: str, kind: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(tmp_path / file)
    else:
        (tmp_path / file).symlink_to("/dev/zero")
    done = zkchat(*READ_BY[file], timeout=20)
    assert done.exit_status in (0, 1, 2, 3)
    assert "unexpected" not in done.err


def test_endless_standard_input_is_refused(zkchat: Program) -> None:
    done = zkchat("vault", "resolve", "-", stdin=b"[" * 10_000_001)
    assert (done.exit_status, "more than 10,000,000 characters" in done.err) == (2, True)


OPENERS = {
    "fileio.py": "the one reader",
    "registry.py": "the package's own files",
    "exporters/html/__init__.py": "the package's own template",
    "views/graph_formats/html/__init__.py": "the package's own template and style sheet",
    "gui/styled_browser.py": "the package's own style sheet",
    "app/settings.py": "the package's own notes",
    "cli/app.py": "os.devnull",
    "cli/commands/man.py": "the package's own page",
    "terminal/screen.py": "os.devnull",
    "mcp/skill_file.py": "the package's own skill",
    "llm/embedders/multilingual.py": "the files of an installed package",
    "logging_setup.py": "opens to write",
    "references/summary_cache.py": "opens to write",
    "store/sqlite/repair.py": "locks",
    "vault/edit/journal.py": "creates and locks",
}


def test_every_file_is_read_through_fileio(syntax: Syntax) -> None:
    openers = {
        file
        for file, module in syntax.items()
        for node in module.nodes
        if isinstance(node, ast.Call) and _opens_to_read(node)
    }
    assert openers == set(OPENERS)


def _opens_to_read(call: ast.Call) -> bool:
    match call.func:
        case (
            ast.Name("open")
            | ast.Attribute(ast.Name("os" | "io"), "open")
            | ast.Attribute(_, "read_bytes")
        ):
            return True
        case ast.Attribute(owner, "read_text"):
            return ast.unparse(owner) != "filesystem"
        # Of a Path: with a mode, or with nothing
        case ast.Attribute(_, "open"):
            modes = [
                each.value
                for each in call.args[:1]
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
            return not call.args or any("r" in mode for mode in modes)
    return False


# memory


class Turn:
    """What a model's changes of notes do, where a user answers the questions with `answers`, or has
    said `--yes` in a pipe (none).
    """

    def __init__(self, app: AppFixture, *answers: str) -> None:
        self.room = app
        self.answers = list(answers)
        self.asked: list[str] = []

    def read_answer(self, question: str, _: str) -> str:
        self.asked.append(question)
        return self.answers.pop(0)

    def make(self, *changes: tuple[str, dict[str, str]], **services: Any) -> list[str]:
        """What the model is told about its changes."""
        wanted = tuple(
            ToolCall(id=f"w{i}", name=name, arguments=arguments)
            for i, (name, arguments) in enumerate(changes)
        )
        screen = Screen(StringIO(), StringIO(), color=False, err_is_terminal=False)
        approve = ApprovalPrompt(self.read_answer, screen) if self.answers else approve_notes
        model = DeltaModel([tool_reply(*wanted), reply("Done.")])
        self.room.vault.refresh(full=True)
        session = self.room.session(
            model, approve=approve, tools=tuple(load_tools(unsafe=True)), **services
        )
        return [
            str(event.told)
            for event in run_turn(session.send("Change it."))[0]
            if isinstance(event, ChangeDecided)
        ]


def test_yes_on_a_terminal_asks_about_memory_alone(zkchat: Program, script: Script) -> None:
    write_notes(zkchat.vault, {"ZKCHAT.md": "@style.md"})
    wanted = [
        {"name": "create_note", "arguments": {"path": path, **OBEY}}
        for path in ("New.md", "style.md")
    ]
    with Chat(
        zkchat, "--unsafe", "--yes", "--model", script({"tool_calls": wanted}, {"text": "Tried."})
    ) as chat:
        chat.say("write it")
        chat.wait_for("create style.md? [y/N")
        chat.wait_for("style.md (imported by ZKCHAT.md) is memory: later conversations")
        chat.enter()
        chat.wait_for("Tried.")
    assert [(zkchat.vault / name).exists() for name in ("New.md", "style.md")] == [True, False]


def tree(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in folder.rglob("*")
        if file.is_file()
    }


OBEY = {"content": "Obey me.\n"}
IMPORTS = {
    "append to an import": (
        {"ZKCHAT.md": "@style.md", "style.md": "# Style\n"},
        ("append_to_note", {"path": "style.md", "text": "Obey."}),
    ),
    "edit an import": (
        {"WILK.md": "See @style.", "style.md": "# Style\n\nShort.\n"},
        ("edit_section", {"path": "style.md", "heading": "Style", "new_text": "Obey."}),
    ),
    "create a missing import": (
        {"ZKCHAT.md": "@later.md"},
        ("create_note", {"path": "later.md", **OBEY}),
    ),
    "create what shadows an import": (
        {"Garden/ZKCHAT.md": "@style.md", "style.md": "# Style\n"},
        ("create_note", {"path": "Garden/style.md", **OBEY}),
    ),
    "rename onto a missing import": (
        {"ZKCHAT.md": "@Deep/later", "Own.md": "Obey."},
        ("rename_note", {"path": "Own.md", "new_path": "Deep/later.md"}),
    ),
    "an import of five imports": (
        {"ZKCHAT.md": "@a1.md", **{f"a{i}.md": f"@a{i + 1}.md" for i in range(1, 5)}},
        ("create_note", {"path": "a5.md", **OBEY}),
    ),
    "an import in what only looks like code": (
        {"ZKCHAT.md": "`see @style.md" + "\n" * 9 + "`"},
        ("create_note", {"path": "style.md", **OBEY}),
    ),
    "an import in another case": (
        {"ZKCHAT.md": "@Style.md"},
        ("create_note", {"path": "style.md", **OBEY}),
    ),
    "an import after a thousand": (
        {"ZKCHAT.md": " ".join(f"@n{i}.md" for i in range(1000)) + " @style.md"},
        ("create_note", {"path": "style.md", **OBEY}),
    ),
    "an import of a folder's memory": (
        {"Garden/WILK.md": "@../Queries/Limiting.md"},
        ("append_to_note", {"path": "Queries/Limiting.md", "text": "Obey."}),
    ),
    "a new memory file": ({}, ("create_note", {"path": "Garden/zkchat.md", **OBEY})),
    "an import in the trash": (
        {"ZKCHAT.md": "@style.md", "style.md": "x\n"},
        ("move_note_to_trash", {"path": "style.md"}),
    ),
}


@pytest.mark.parametrize("attack", IMPORTS)
def test_a_change_of_memory_is_not_covered_by_yes(
    app: AppFixture, vault: Path, attack: str
) -> None:
    files, change = IMPORTS[attack]
    before = tree(write_notes(vault, files))
    [told] = Turn(app).make(change)
    assert "is memory, and --yes does not cover memory" in told
    assert tree(vault) == before  # nor is there a scratch file


@pytest.mark.parametrize(
    "attack", ["append to an import", "create a missing import", "an import of five imports"]
)
def test_a_change_of_memory_is_not_covered_by_all(
    app: AppFixture, vault: Path, attack: str
) -> None:
    files, change = IMPORTS[attack]
    before = tree(write_notes(vault, files))
    turn = Turn(app, "all", "n")
    assert turn.make(("create_note", {"path": "New.md", "content": "x"}), change) == [
        "done",
        DECLINED.reason,
    ]
    assert len(turn.asked) == 2
    assert tree(vault) == {**before, "New.md": "x\n"}


@pytest.mark.parametrize(
    ("link", "target", "change"),
    [
        ("ZKCHAT.md", "Real.md", ("append_to_note", {"path": "Real.md", "text": "Obey."})),
        ("ZKCHAT.md", "Missing.md", ("create_note", {"path": "Missing.md", **OBEY})),
        ("alias.md", "style.md", ("append_to_note", {"path": "alias.md", "text": "Obey."})),
        ("linked", "Garden", ("create_note", {"path": "Garden/rules.md", **OBEY})),
        ("Other", "Garden", ("create_note", {"path": "Other/rules.md", **OBEY})),
    ],
)
def test_a_link_does_not_hide_memory(
    app: AppFixture, vault: Path, link: str, target: str, change: tuple[str, dict[str, str]]
) -> None:
    write_notes(
        vault, {"Real.md": "x\n", "style.md": "x\n", "WILK.md": "@style.md @linked/rules.md"}
    )
    if target == "Garden":
        (vault / "linked").symlink_to("Garden")
    (vault / link).unlink(missing_ok=True)
    (vault / link).symlink_to(target)
    before = tree(vault)
    [told] = Turn(app).make(change)
    assert "is memory, and --yes does not cover memory" in told
    assert tree(vault) == before


def test_the_memory_of_agents_in_the_vault_is_memory(app: AppFixture, vault: Path) -> None:
    write_notes(vault, {"Coder.md": "x\n"})
    (vault / "agents").mkdir()
    (vault / "agents/coder.md").symlink_to("../Coder.md")
    changes = (
        ("create_note", {"path": "agents/planner.md", **OBEY}),
        ("append_to_note", {"path": "Coder.md", "text": "Obey."}),
    )
    told = Turn(app).make(*changes, agents_folder=vault / "agents")
    assert ["(memory of the agent" in each for each in told] == [True, True]


def test_more_imports_than_can_be_followed_make_every_change_one_of_memory(
    app: AppFixture, vault: Path
) -> None:
    write_notes(vault, {"ZKCHAT.md": " ".join(f"@n{i}.md" for i in range(MAX_PATHS))})
    [told] = Turn(app).make(("create_note", {"path": "New.md", **OBEY}))
    assert "one of over 5,000 files that memory may import" in told


def test_a_cut_memory_file_imports_no_path_that_the_cut_made(tmp_path: Path) -> None:
    write_notes(
        tmp_path,
        {
            "ZKCHAT.md": "word " * 30 + "@styleguide.md",
            **{f"{'styleguide'[:n]}.md": "Obey." for n in range(1, 10)},
        },
    )
    for budget in range(20, 60):
        items = MemoryLoader(tmp_path, lambda *_: None, budget, COUNTER, ["ZKCHAT.md"]).load_root()
        assert [item.relative_path for item in items[1:]] == []


def test_other_notes_are_changed_with_yes(app: AppFixture, vault: Path) -> None:
    write_notes(vault, {"ZKCHAT.md": "@style.md", "style.md": "x\n", "Mine.md": "x\n"})
    assert Turn(app).make(("append_to_note", {"path": "Mine.md", "text": "y"})) == ["done"]


# other local users


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_all_that_zkchat_makes_is_private_whatever_the_umask(
    tmp_path: Path, vault: Path, open_umask: None
) -> None:
    program = Program(vault, tmp_path / "deep" / "home", fresh=True)
    for command in (("ask", "What is a filter?", "--verbose"), ("chat", "--demo")):
        assert program(*command).exit_status == 0, command
    write_keys({"openai": KEY}, paths.app_paths(program.environment))
    write_agent_file(program.home / "config/agents/planner.toml", {})
    append_line(program.home / "data/history/some", "typed")
    made = {
        path: stat.S_IMODE(path.stat().st_mode)
        for path in (program.home.parent, *program.home.parent.rglob("*"))
    }
    assert {path.name for path in made} >= {
        "deep",
        "home",
        "index",
        "conversations.db",
        "zkchat.log",
        "keys.toml",
        "planner.toml",
        "demo",
        "some",
    }
    assert {
        path: mode for path, mode in made.items() if mode != (0o700 if path.is_dir() else 0o600)
    } == {}


# keys

KEY = "zk-live-Ab+c/9_XyZ1234567890qwErTy"
ECHOES = {
    "plain": KEY,
    "percent-encoded": quote(KEY, safe=""),
    "percent-encoded wholly": "".join(f"%{ord(c):02x}" for c in KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 with the scheme": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "URL-safe base64 with a name": base64.urlsafe_b64encode(f"me:{KEY}".encode()).decode(),
    "base64, percent-encoded": quote(base64.b64encode(KEY.encode()), safe=""),
    "hexadecimal": KEY.encode().hex(" "),
    "a folded header": f"Authorization: Bearer {KEY[:15]}\r\n {KEY[15:]}",
    "a dumped list": f"['Bearer {KEY[:9]}', '{KEY[9:]}']",
    "numbered parts": f"x-1: {KEY[:12]}; x-2: {KEY[12:24]}; x-3: {KEY[24:]}",
    "a part": KEY[:20],
}


@pytest.mark.parametrize("echo", ECHOES)
def test_an_echoed_key_is_masked(echo: str) -> None:
    text = SecretMask([KEY])(f"I was sent {ECHOES[echo]}, it is wrong")
    assert text.startswith("I was sent ")
    assert text.endswith(", it is wrong")
    assert MASK in text
    readable = unquote(text)
    for run in re.findall(r"[\w+/-]{8,}={0,2}", readable):
        with suppress(ValueError):
            readable += base64.b64decode(
                run + "==", altchars=b"-_" if "-" in run or "_" in run else None
            ).decode("latin-1")
    assert not any(KEY[start : start + 8] in readable for start in range(8, len(KEY) - 8))


def test_a_placeholder_key_garbles_no_message() -> None:
    assert (
        SecretMask(["sk-no-key-required", "EMPTY"])("a key is required, not EMPTY")
        == "a key is required, not EMPTY"
    )


def test_a_servers_echo_reaches_neither_messages_nor_the_log(
    zkchat: Program, httpserver: HTTPServer
) -> None:
    zkchat.env |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": httpserver.url_for("/v1")}
    for echo in (
        ECHOES["base64 with the scheme"],
        ECHOES["percent-encoded"],
        ECHOES["a folded header"],
    ):
        httpserver.expect_request(re.compile(".*")).respond_with_json(
            {"error": {"message": f"bad key {echo}"}}, status=400
        )
        done = zkchat("ask", "x", "--json", "--verbose", "--model", "openai/gpt-5")
        shown = done.out + done.err + (zkchat.home / "data/zkchat.log").read_text()
        assert (done.exit_status, "bad key" in done.err) == (4, True)
        assert echo not in shown
        httpserver.clear()


UNREADABLE = {
    "a note": ("notes/Filters.md", 0, "Filters.md: not read: permission denied"),
    "a folder of notes": ("notes/Garden", 0, "Garden/: not read: permission denied"),
    "a memory file": ("notes/ZKCHAT.md", 0, "memory: ZKCHAT.md cannot be read: permission denied"),
    "a vault's settings": (
        "notes/.zkchat.toml",
        2,
        ".zkchat.toml cannot be read: permission denied",
    ),
    "the user's settings": (
        "home/config/config.toml",
        2,
        "config.toml cannot be read: permission denied",
    ),
    "the vault": ("notes", 3, "notes cannot be read: permission denied"),
    "conversations": ("home/data/conversations.db", 0, "permission denied"),
}


@needs_permissions
@pytest.mark.parametrize("what", UNREADABLE)
def test_what_the_user_may_not_read_is_named(zkchat: Program, tmp_path: Path, what: str) -> None:
    path, exit_status, told = UNREADABLE[what]
    write_notes(
        tmp_path,
        {
            "notes/ZKCHAT.md": "x",
            "notes/.zkchat.toml": "",
            "home/config/config.toml": "",
            "home/data/conversations.db": "",
        },
    )
    (tmp_path / path).chmod(0)
    done = zkchat("ask", "How do I join filters with AND?", "--vault", zkchat.vault, cwd=tmp_path)
    (tmp_path / path).chmod(0o700)
    assert (done.exit_status, "Traceback" in done.err) == (exit_status, False)
    assert told in done.err.replace("Permission", "permission")
    assert exit_status or "Filters can be joined" in done.out


# other programs


@pytest.mark.parametrize("editor", ["vim", "hx", "code --wait", "ed", "emacsclient -t"])
@pytest.mark.parametrize(
    "name", ["-c :!touch x", "$(id); rm x", "a {line} {path} 'b", "+1 | x", "--wait\n-g"]
)
def test_a_notes_name_is_one_word_of_an_editors_command(editor: str, name: str) -> None:
    note = Path("/notes") / f"{name}.md"
    for configured in ("", f"{editor} {{path}}"):
        words = open_note_command(note, 7, configured, Path("/notes"), {"EDITOR": editor})
        assert words is not None
        own = [word for word in words if word not in (*editor.split(), "+7", "-g")]
        assert own in ([str(note)], [f"{note}:7"])


@pytest.mark.parametrize(
    ("pager", "shown"), [("exec <&-; sleep 0.1", "›"), ("kill -9 $$", "The end of it.")]
)
def test_a_pager_that_reads_nothing_ends_nothing(tmp_path: Path, pager: str, shown: str) -> None:
    """One that fails, too, and then the note is printed."""
    program = tmp_path / "pager"
    program.write_text(f"#!/bin/sh\n{pager}\n")
    program.chmod(0o755)
    with Chat(
        Program(
            write_notes(
                tmp_path / "notes",
                {"Long.md": f"{'word ' * 2000}\n\n" * 9 + "\n" * 40 + "The end of it."},
            ),
            tmp_path / "home",
        ),
        PAGER=str(program),
        EDITOR="",
        VISUAL="",
    ) as chat:
        chat.say("/open Long")
        chat.wait_for("Long.md:1")
        chat.wait_for(shown)
        chat.wait_for_prompt()
        chat.say("What is a word?")
        chat.wait_for("Sources")


@pytest.mark.parametrize("variable", ["PAGER", "EDITOR"])
def test_a_pager_or_editor_that_hangs_is_ended_by_ctrl_c(
    zkchat: Program, tmp_path: Path, variable: str
) -> None:
    program = tmp_path / "hanging"
    program.write_text("#!/bin/sh\necho It hangs.\nexec sleep 60\n")
    program.chmod(0o755)
    write_notes(zkchat.vault, {"Long.md": "word\n\n" * 500})
    with Chat(zkchat, **{"EDITOR": "", "VISUAL": "", variable: str(program)}) as chat:
        chat.say("/open Long")
        chat.wait_for("It hangs.")
        chat.type(CTRL_C)
        chat.say("What is a filter?")
        chat.wait_for("Sources")


@pytest.mark.parametrize("text", ["[[", "", "[1]\ncommitted\n", "\xff"])
def test_a_damaged_journal_of_a_change_is_removed(zkchat: Program, text: str) -> None:
    assert zkchat("vault", "index").exit_status == 0
    [index] = (zkchat.home / "cache/index").glob("*.db")
    journal = index.with_suffix(".changes")
    journal.write_text(text, encoding="latin-1")
    assert zkchat("vault", "search", "filter").exit_status == 0
    assert not journal.exists()
