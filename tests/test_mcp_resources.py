"""The notes as resources of the MCP server, its prompts and its skill, as a client of the official
SDK sees them.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import NOTES, write_notes
from mcp import MCPError
from mcp_client import NoteClient, connected_in_memory
from mcp_types import (
    CompletionArgument,
    PaginatedRequestParams,
    PromptReference,
    Request,
    RequestParams,
    ResourceTemplateReference,
    Result,
)
from pydantic import BaseModel

from zkchat_cli.mcp.resources import NOTE_TEMPLATE, PAGE, SECTION_TEMPLATE
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.mcp.skill_file import SKILL_FILE
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.vault import Vault
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

SKILL = "skill://zkchat/SKILL.md"
ODD_NOTES = {
    "C# and F#.md": "# C# and F#\n\nTwo languages.\n\n## What F# adds\n\nUnions.\n",
    "100% Über 5.md": "# Ganz\n\n## Schluß\n\nEnde.\n",
    "Twice.md": "# Twice\n\n## Day\n\nThe first.\n\n## Day\n\nThe second. ^end\n",
    "a%20b.md": "Percent signs in a name.\n",
    ".obsidian/secret.md": "hidden\n",
    "data.csv": "1,2\n",
}


@contextmanager
def serving(
    folder: Path, notes: dict[str, str], view: VaultView = WHOLE_VAULT, **options: Any
) -> Iterator[NoteClient]:
    """A client of a server of these notes, or of those in a view, in this process."""
    root = write_notes(folder / "notes", notes)
    with closing(Vault.open(root, folder / "cache", view=view)) as vault:
        server = NoteServer(ServedVault(vault, lambda _words, _limit: []))
        with connected_in_memory(server, **options) as client:
            yield client


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NoteClient]:
    with serving(tmp_path_factory.mktemp("resources"), {**NOTES, **ODD_NOTES}) as client:
        yield client


def read(client: NoteClient, uri: str) -> str:
    [content] = client.run("read_resource", uri).contents
    assert content.uri == uri
    return str(content.text)


def complete(client: NoteClient, ref: Any, name: str, value: str, **known: str) -> list[str]:
    argument = CompletionArgument(name=name, value=value)
    found = client.run("complete", ref, argument.model_dump(), known or None)
    return list(found.completion.values)


# lists


def test_each_note_and_the_skill_are_listed_once_with_an_address_that_reads_them(
    client: NoteClient,
) -> None:
    listed = client.run("list_resources").resources
    assert listed[0].uri == SKILL
    notes = {
        note for note in {**NOTES, **ODD_NOTES} if note not in (".obsidian/secret.md", "data.csv")
    }
    assert [each.name for each in listed[1:]] == sorted(notes)
    for each in listed[1:]:
        text = {**NOTES, **ODD_NOTES}[each.name]
        assert read(client, each.uri) + "\n" == text
        assert each.mime_type == "text/markdown" and each.annotations.last_modified.endswith("Z")
    written = {each.name: each.uri for each in listed}
    assert written["C# and F#.md"] == "note://C%23%20and%20F%23.md"
    assert written["100% Über 5.md"] == "note://100%25%20%C3%9Cber%205.md"


def test_a_title_and_a_name_cannot_run_in_the_terminal_of_a_client(tmp_path: Path) -> None:
    notes = {
        "Title.md": '---\ntitle: "\\e[31mRed"\n---\ntext\n',
        "Name\x1b[2J.md": "A name that clears the screen.\n",
    }
    with serving(tmp_path, notes) as client:
        _, name, title = client.run("list_resources").resources
        assert (title.title, name.name) == ("\u241b[31mRed", "Name\u241b[2J.md")
        assert name.uri == "note://Name%1B%5B2J.md"
        assert read(client, name.uri) == "A name that clears the screen."


def test_a_long_list_comes_in_pages_and_a_new_note_shifts_none(tmp_path: Path) -> None:
    notes = {f"Note {n:03}.md": f"Number {n}.\n" for n in range(PAGE + 1)}
    with serving(tmp_path, notes) as client:
        first = client.run("list_resources")
        assert len(first.resources) == PAGE + 1
        (tmp_path / "notes" / "A new one.md").write_text("It is before the others.\n")
        second = client.run("list_resources", cursor=first.next_cursor)
        assert [each.name for each in second.resources] == [f"Note {PAGE:03}.md"]
        assert second.next_cursor is None
        for cursor in ("nothing", "ä", "%%%%"):
            with pytest.raises(MCPError, match="begin again without one"):
                client.run("list_resources", cursor=cursor)


# addresses


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("note://Queries/Combining.md#Nesting", "## Nesting\n\nYou can nest brackets"),
        ("note://Combining", "# Combining"),
        ("note://Search%20conditions#Dates", "## Dates"),
        # as a client writes it that fills in a template without percent signs
        ("note://C# and F#.md", "# C# and F#\n\nTwo"),
        ("note://C# and F#.md#What F# adds", "## What F# adds"),
        ("note://C%23%20and%20F%23.md#What%20F%23%20adds", "## What F# adds"),
        ("note://100% Über 5.md#Schluß", "## Schluß"),
        ("note://100%25%20%C3%9Cber%205.md#Schlu%C3%9F", "## Schluß"),
        ("note://a%20b.md", "Percent signs"),
        ("note://a%2520b.md", "Percent signs"),
        ("note://Twice.md#Day", "## Day\n\nThe first."),
        ("note://Twice.md#day-1", "## Day\n\nThe second."),
        ("note://Twice.md#%5Eend", "The second."),
        ("note://data.csv", "1,2"),
    ],
)
def test_an_address_is_read_as_clients_write_it(client: NoteClient, uri: str, text: str) -> None:
    assert read(client, uri).startswith(text)


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("note://../secret.md", r"\.\./secret\.md leads out of the vault"),
        ("note://%2e%2e%2fsecret.md", r"\.\./secret\.md leads out of the vault"),
        ("note:///etc/passwd", "/etc/passwd leads out of the vault"),
        ("note://%2Fetc%2Fpasswd", "/etc/passwd leads out of the vault"),
        ("note://.obsidian/secret.md", "hidden files are not read"),
        ("note://%2Eobsidian/secret.md#x", "hidden files are not read"),
        ("note://Nothing.md", r"there is no note Nothing\.md"),
        ("note://Filters.md#Nothing", r"Filters\.md has no heading Nothing"),
        ("note://", "note:// names no note"),
        ("note://#Dates", "note://#Dates names no note"),
        ("note://%00", "there is no note"),
        ("note://" + "#" * 20_000, "is no address of a note"),
        ("file:///etc/passwd", "is no address of a note"),
        ("skill://other/SKILL.md", "is no address of a note"),
    ],
)
def test_an_address_of_nothing_in_the_vault_is_refused_with_a_sentence(
    client: NoteClient, uri: str, sentence: str
) -> None:
    with pytest.raises(MCPError, match=sentence) as refused:
        client.run("read_resource", uri)
    assert refused.value.error.code == -32602
    assert "hidden\n" not in str(refused.value) and "root:" not in str(refused.value)


def test_a_link_out_of_the_vault_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret\n")
    write_notes(tmp_path / "notes", NOTES)
    (tmp_path / "notes" / "Link.md").symlink_to(tmp_path / "secret.md")
    with serving(tmp_path, NOTES) as client:
        assert "Link.md" not in [each.name for each in client.run("list_resources").resources]
        with pytest.raises(MCPError, match="leads out of the vault"):
            client.run("read_resource", "note://Link.md")


def test_who_sees_one_folder_lists_reads_completes_and_verifies_nothing_else(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, dict(NOTES), VaultView(("Queries",))) as client:
        listed = [each.name for each in client.run("list_resources").resources]
        assert listed == ["zkchat", "Queries/Combining.md", "Queries/Limiting.md"]
        note = ResourceTemplateReference(uri=NOTE_TEMPLATE)
        section = ResourceTemplateReference(uri=SECTION_TEMPLATE)
        prompt = PromptReference(name="verify-draft")
        assert complete(client, note, "path", "compost") == []
        assert complete(client, prompt, "draft", "compost") == []
        for ask in (
            lambda: read(client, "note://Garden/Compost.md"),
            lambda: read(client, "note://Compost#Compost"),
            lambda: complete(client, section, "heading", "", path="Garden/Compost.md"),
            lambda: client.run("get_prompt", "verify-draft", {"draft": "Garden/Compost.md"}),
        ):
            with pytest.raises(MCPError, match=r"there is no note") as refused:
                ask()
            assert "air, water" not in str(refused.value)
        assert read(client, "note://Queries/Limiting.md").startswith("Limiting")


def test_a_long_note_says_how_to_get_the_rest(tmp_path: Path) -> None:
    with serving(tmp_path, {"Long.md": "A line of a long note.\n" * 5_000}) as client:
        text = read(client, "note://Long.md")
        assert "Read on with start_line=" in text and text.endswith("The tool is read_note.]")


# completion


def test_paths_and_headings_are_completed(client: NoteClient) -> None:
    note = ResourceTemplateReference(uri=NOTE_TEMPLATE)
    section = ResourceTemplateReference(uri=SECTION_TEMPLATE)
    assert complete(client, note, "path", "combin") == ["Queries/Combining.md"]
    assert complete(client, section, "path", "über") == ["100% Über 5.md"]
    assert complete(client, section, "heading", "", path="Twice.md") == ["Twice", "Day", "day-1"]
    assert complete(client, section, "heading", "dat", path="Filters") == ["Dates"]
    assert complete(client, section, "heading", "x") == []
    assert complete(client, section, "other", "x") == []
    assert complete(client, note, "path", ".obsidian/sec") == []
    with pytest.raises(MCPError, match="leads out of the vault"):
        complete(client, section, "heading", "", path="../secret.md")


def test_each_completed_heading_reads_its_own_section(client: NoteClient) -> None:
    section = ResourceTemplateReference(uri=SECTION_TEMPLATE)
    for path in ("Twice.md", "C# and F#.md", "100% Über 5.md", "Filters.md"):
        headings = complete(client, section, "heading", "", path=path)
        sections = {read(client, f"note://{path}#{heading}") for heading in headings}
        assert len(sections) == len(headings) > 0


# prompts


def test_the_prompts_have_the_question_and_the_draft(client: NoteClient) -> None:
    prompts = client.run("list_prompts").prompts
    assert [prompt.name for prompt in prompts] == ["ask-notes", "verify-draft"]
    for prompt in prompts:
        assert prompt.arguments[0].description and prompt.arguments[0].required
    [message] = client.run("get_prompt", "ask-notes", {"question": "why limit?"}).messages
    assert "why limit?" in message.content.text and "verify_quotations" in message.content.text
    [message] = client.run("get_prompt", "verify-draft", {"draft": "a draft"}).messages
    assert "<draft>\na draft\n</draft>" in message.content.text
    assert complete(client, PromptReference(name="ask-notes"), "question", "w") == []


@pytest.mark.parametrize(
    "named",
    ["Garden/Compost.md", "[[Compost]]", "note://Garden/Compost.md", "note://Compost#Compost"],
)
def test_a_draft_may_be_a_note(client: NoteClient, named: str) -> None:
    [message] = client.run("get_prompt", "verify-draft", {"draft": named}).messages
    assert '<draft path="Garden/Compost.md">\n# Compost\n' in message.content.text


def test_the_path_of_a_draft_is_completed_and_a_wrong_one_is_an_error(client: NoteClient) -> None:
    prompt = PromptReference(name="verify-draft")
    assert complete(client, prompt, "draft", "compo") == ["Garden/Compost.md"]
    with pytest.raises(MCPError, match=r"there is no note Garden/Compots\.md"):
        client.run("get_prompt", "verify-draft", {"draft": "Garden/Compots.md"})
    with pytest.raises(MCPError, match="leads out of the vault"):
        client.run("get_prompt", "verify-draft", {"draft": "../secret.md"})
    draft = '"needs air" says Compots.md'
    [message] = client.run("get_prompt", "verify-draft", {"draft": draft}).messages
    assert draft in message.content.text


def test_a_missing_argument_of_a_prompt_is_an_error(client: NoteClient) -> None:
    with pytest.raises(MCPError, match="ask-notes: Missing required arguments"):
        client.run("get_prompt", "ask-notes", {})


# the skill


class SkillList(Result):
    skills: list[dict[str, Any]]
    ttlMs: int  # noqa: N815 – as the protocol writes it
    cacheScope: str  # noqa: N815


class OneSkill(Result):
    skill: dict[str, Any]
    ttlMs: int  # noqa: N815
    cacheScope: str  # noqa: N815


class SkillParams(RequestParams):
    uri: str


def request(client: NoteClient, method: str, params: BaseModel, result: type[Any]) -> Any:
    """The result of a request that the SDK's client has no method for."""

    async def send() -> Any:
        asked: Any = Request[Any, Any](method=method, params=params)
        return await client.client.session.send_request(asked, result)

    return client.portal.call(send)


def test_the_skill_is_listed_with_the_digest_of_what_is_read(client: NoteClient) -> None:
    assert client.client.server_capabilities.extensions == {"io.modelcontextprotocol/skills": {}}
    listed = request(client, "skills/list", PaginatedRequestParams(), SkillList)
    [entry] = listed.skills
    text = read(client, SKILL)
    assert text == SKILL_FILE.read_text(encoding="utf-8")
    assert entry["uri"] == SKILL
    assert entry["frontmatter"] == yaml.safe_load(text.split("---\n")[1])
    digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert entry["resources"] == [{"uri": SKILL, "digest": digest, "size": len(text.encode())}]
    assert (listed.ttlMs > 0, listed.cacheScope) == (True, "public")
    one = request(client, "skills/get", SkillParams(uri=SKILL), OneSkill)
    assert one.skill == entry


def test_there_is_no_other_skill_and_one_page(client: NoteClient) -> None:
    with pytest.raises(MCPError, match=r"No skill is served at skill://other/SKILL\.md") as refused:
        request(client, "skills/get", SkillParams(uri="skill://other/SKILL.md"), OneSkill)
    assert refused.value.error.code == -32602
    with pytest.raises(MCPError, match="there is one page of skills"):
        request(client, "skills/list", PaginatedRequestParams(cursor="x"), SkillList)


# how long answers may be kept


def test_lists_and_texts_say_how_long_they_may_be_kept_and_for_whom(client: NoteClient) -> None:
    kept = {
        method: (result.ttl_ms, result.cache_scope)
        for method, result in {
            "tools": client.run("list_tools"),
            "prompts": client.run("list_prompts"),
            "templates": client.run("list_resource_templates"),
            "notes": client.run("list_resources"),
            "note": client.run("read_resource", "note://Filters.md"),
            "skill": client.run("read_resource", SKILL),
        }.items()
    }
    assert kept == {
        "tools": (300_000, "private"),
        "prompts": (300_000, "public"),
        "templates": (300_000, "public"),
        "notes": (2_000, "private"),
        "note": (0, "private"),
        "skill": (300_000, "public"),
    }


def test_an_edited_note_is_read_anew_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, dict(NOTES)) as client:
        assert "Compost" in read(client, "note://Garden/Compost.md")
        (tmp_path / "notes" / "Garden" / "Compost.md").write_text("Edited.\n")
        assert read(client, "note://Garden/Compost.md") == "Edited."


def test_older_clients_get_the_same_without_hints(tmp_path: Path) -> None:
    with serving(tmp_path, dict(NOTES), mode="legacy") as client:
        assert client.run("list_resources").resources[1].uri == "note://Filters.md"
        assert read(client, "note://Filters.md#Dates").startswith("## Dates")
        assert client.client.server_capabilities.resources.subscribe is False
