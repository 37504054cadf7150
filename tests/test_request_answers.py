"""Whole answers to each kind of request, through the command line and without a model."""

from pathlib import Path

import pytest
from conftest import Program, write_notes

# Text for a section that is a passage by itself
LONG = "Nothing else is said here, so the section gets long. " * 25 + "\n\n"
VAULT = {
    "Books/Dune.md": "---\nstatus: read\nauthor: Frank Herbert\n---\n# Dune\n\n"
    "Dune is a novel about a desert planet. See [[Ecology]]. #book\n",
    "Books/Emma.md": "---\nstatus: open\nauthor: Jane Austen\n---\n# Emma\n\n"
    "A comedy of manners. Unlike [[Dune]]. #book\n",
    "Ecology.md": "# Ecology\n\nEcology studies how living things depend on each other.\n",
    "Kitchen/Starter.md": "# Starter\n\nA starter is wild yeast in dough.\n\n"
    "## Feeding the starter\n\n"
    "1. Discard half of the starter.\n2. Add flour and water.\n\n## Storing\n\nKeep it cool.\n",
    "Kitchen/Coffee.md": "Coffee is roasted at 220 degrees.\n",
    "Journal/2024-06-11.md": "Cleaned the chimney of the house.\n",
    "Kitchen/Bake a loaf.md": "# Bake a loaf\n\n"
    + "".join(f"## Loaf {i}\n\nHow to bake a loaf: loaf {i} is baked.\n\n{LONG}" for i in range(4))
    + f"## At last\n\n{LONG}1. Shape it.\n2. Let it rise.\n\n",
    "Proof.md": "# Proof\n\nLast rest of the dough in its basket.\n\n"
    + LONG
    + "".join(
        f"## Proof {i}\n\nProof {i} of proof {i} is in proof {i}.\n\n{LONG}" for i in range(4)
    ),
    **{f"Wood/Plank {i:02}.md": f"Plank {i} is of oak. #wood\n" for i in range(20)},
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "vault", VAULT)


@pytest.mark.parametrize(
    ("message", "request_kind", "level", "tools", "said"),
    [
        ("which notes have #book?", "list", "answer", ["list_zk_documents"], "2 notes with #book"),
        ("how many notes have #wood?", "count", "answer", ["list_zk_documents"], "20 notes"),
        ("list the notes in Books/", "list", "answer", ["list_zk_documents"], "2 notes in Books/:"),
        ("list notes with status: open", "list", "answer", ["list_zk_documents"], "Emma [1]"),
        ("what links to Dune?", "links", "answer", ["find_backlinks"], "1 note links to Dune"),
        ("what does Dune link to?", "links", "answer", ["find_forward_links"], "- Ecology"),
        (
            "what does the Dune note link to?",
            "links",
            "answer",
            ["find_forward_links", "find_forward_links"],
            "- Ecology",
        ),
        (
            "Welche Notizen verlinken auf die Dune-Notiz?",
            "links",
            "answer",
            ["find_backlinks", "find_backlinks"],
            "1 Notiz verlinkt auf Dune",
        ),
        (
            "how is Emma connected to Ecology?",
            "links",
            "answer",
            ["find_link_path"],
            "Emma → Dune → Ecology",
        ),
        (
            "summarize my notes on the starter",
            "outline",
            "answer",
            ["find_excerpts", "read_zk_document"],
            "Outline of Starter, with its key lines",
        ),
        (
            "compare coffee and kombucha",
            "compare",
            "most_likely",
            ["find_excerpts"] * 3,
            "kombucha: nothing in your notes.",
        ),
        ("what is ecology?", "definition", "answer", ["find_excerpts"], "Ecology studies"),
        ("how do I feed the starter?", "how_to", "answer", ["find_excerpts"], "2. “Add flour"),
        (
            "how do I bake a loaf?",
            "how_to",
            "answer",
            ["find_excerpts", "read_zk_document"],
            "Steps from Bake a loaf › At last:\n\n1. “Shape it.”",
        ),
        (
            "what is proof?",
            "definition",
            "answer",
            ["find_excerpts", "read_zk_document"],
            "“Last rest of the dough",
        ),
        ("when did I clean the chimney?", "when", "answer", ["find_excerpts"], "2024-06-11: “"),
        (
            "make a table of #book notes",
            "table",
            "answer",
            ["list_zk_documents"],
            "| Dune [1] | read | Frank Herbert |",
        ),
        ("tell me more", "more", None, [], "There is nothing to continue"),
        ("write a poem about coffee", None, "most_likely", ["find_excerpts"], "I cannot write"),
        (
            "list notes with #nothing",
            "list",
            "nothing",
            ["list_zk_documents"],
            "No note has the tag",
        ),
        ("what links to Nowhere?", "links", "nothing", ["find_backlinks"], "There is no note"),
    ],
)
def test_answer_to_a_request(
    zkchat: Program,
    message: str,
    request_kind: str | None,
    level: str | None,
    tools: list[str],
    said: str,
) -> None:
    reply = zkchat("ask", message, "--json").json
    assert said in reply["answer"]
    assert (reply["request"], reply["level"]) == (request_kind, level)
    assert [run["name"] for run in reply["tools"]] == tools
    assert all(citation["valid"] for citation in reply["citations"])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("how many pages are in Persuasion?", "249 pages"),
        ("how many pages are in Books?", "2 notes in Books/"),
        ("how is the pump connected to the valve?", "by a hose"),
    ],
)
def test_question_that_resembles_a_request_is_looked_up(
    zkchat: Program, message: str, said: str
) -> None:
    valve = "The pump is connected to the valve by a hose.\n"
    write_notes(zkchat.vault, {"Persuasion.md": "Persuasion has 249 pages.\n", "Valve.md": valve})
    assert said in zkchat("ask", message, "--answer-only").out


def test_a_table_of_a_note_is_shown_with_its_header(zkchat: Program) -> None:
    rows = "".join(f"| job {i} | a\\|b | |\n" for i in range(12))
    write_notes(zkchat.vault, {"Jobs.md": f"Some.\n\n| job | who | when |\n|--|:-:|--|\n{rows}"})
    shown = zkchat("ask", "Mach eine Tabelle aus [[Jobs]]", "--answer-only").out
    assert "| job | who | when |\n|---|---|---|\n| job 0 | a/b | [" in shown
    assert "und 2 weitere in Jobs" in shown


def test_a_note_without_a_table_or_list_is_outlined_instead(zkchat: Program) -> None:
    said = zkchat("ask", "mach eine Tabelle aus [[Coffee]]", "--answer-only").out
    assert said.startswith("Gliederung von Coffee mit den Kernsätzen")


def test_columns_that_are_named_are_shown_whatever_they_are(zkchat: Program) -> None:
    write_notes(zkchat.vault, {f"Web/{i}.md": "---\npublish: true\n---\nPage.\n" for i in range(2)})
    shown = zkchat("ask", "make a table of the notes in Web with publish").out
    assert "| 0 [1] | true |" in shown


def test_a_table_of_notes_without_properties_has_a_sentence_of_each(zkchat: Program) -> None:
    shown = zkchat("ask", "haz una tabla de las notas de la carpeta Kitchen", "--answer-only").out
    assert "3 notas en Kitchen/:" in shown
    assert "| Coffee [2] | Coffee is roasted at 220 degrees. |" in shown


def test_a_translation_is_refused_with_an_outline_of_the_note(zkchat: Program) -> None:
    said = zkchat("ask", "Übersetze die Notiz Starter ins Englische", "--answer-only").out
    assert "kann nicht übersetzen" in said
    assert "Gliederung von Starter mit den Kernsätzen:" in said


def test_steps_come_from_the_list_whose_lead_in_fits(zkchat: Program) -> None:
    pump = "# Pump\n\nFollow these steps to install the pump.\n\n1. Close the [valve](http://v).\n"
    other = "# Boiler\n\n1. Install the pump and heat the boiler.\n2. Wait.\n3. Drink.\n"
    write_notes(zkchat.vault, {"Pump.md": f"{pump}2. Turn it.\n", "Boiler.md": other})
    said = zkchat("ask", "how do I install the pump?", "--answer-only").out
    assert "1. “Close the valve.”" in said and "2. “Turn it.”" in said


def test_steps_come_before_what_else_their_note_says(zkchat: Program) -> None:
    steps = "1. Close the valve.\n2. Wait a day.\n"
    text = f"# Water\n\n## Cellar\n\nTwo people install the pump in an hour.\n\n{steps}"
    write_notes(zkchat.vault, {"Water.md": text})
    said = zkchat("ask", "how do I install the pump?", "--answer-only").out
    assert said.startswith("Steps from Water › Cellar:\n\n1. “Close the valve.”")
    assert said.index("2. “Wait a day.”") < said.index("Two people install the pump")


def test_long_list_is_cut_and_names_the_command_that_shows_all(zkchat: Program) -> None:
    answer = zkchat("ask", "list all notes with #wood").out
    assert "and 14 more: `zkchat vault list --tag wood`" in answer
    assert len(answer.splitlines()) <= 24
    assert len(zkchat("vault", "list", "--tag", "wood", "--json").json) == 20


def test_more_shows_the_rest_of_a_list_and_then_that_it_is_all(zkchat: Program) -> None:
    pages = [zkchat("ask", "list all notes with #wood").out]
    pages += [zkchat("ask", "-c", "more", "--answer-only").out for _ in range(4)]
    assert "Plank 06" in pages[1] and "Plank 05" not in pages[1]
    assert "Plank 19" in pages[3]
    assert pages[4].startswith("That is all I found.")


def test_steps_keep_what_leads_in_to_them(zkchat: Program) -> None:
    lead_in = "The number of hits can be shown at the top instead of the bottom:"
    steps = "1. Open the settings.\n2. Choose a place.\n"
    write_notes(zkchat.vault, {"Hits.md": f"{lead_in}\n\n{steps}"})
    said = zkchat("ask", "how do I put the number of hits at the top?", "--answer-only").out
    assert lead_in in said and "Choose a place" in said


def test_more_quotes_nothing_twice(zkchat: Program) -> None:
    first = zkchat("ask", "what is a starter?", "--json").json
    then = zkchat("ask", "-c", "tell me more", "--json").json
    quoted = {citation["quote"] for citation in first["citations"]}
    assert quoted.isdisjoint(citation["quote"] for citation in then["citations"])


def test_calls_of_a_request_are_stored_with_the_conversation(zkchat: Program) -> None:
    zkchat("ask", "which notes have #book?")
    assert "list_zk_documents" in zkchat("context", "export", "--format", "json").out


def test_side_without_room_in_the_window_is_not_called_unknown(zkchat: Program) -> None:
    write_notes(zkchat.vault, {"Kitchen/Tea.md": "Tea is steeped at 75 degrees.\n" * 40})
    zkchat.env["ZKCHAT_CONTEXT__MAX_TOKENS"] = "1000"
    answer = zkchat("ask", "compare coffee and tea", "--answer-only").out
    assert "tea: no room for passages in the context window." in answer


def test_a_note_that_is_called_by_a_common_word_is_summarized(zkchat: Program) -> None:
    write_notes(zkchat.vault, {"All.md": "# All\n\nEvery page of the garden is listed here.\n"})
    said = zkchat("ask", "summarize All", "--answer-only").out
    assert said.startswith("Outline of All, with its key lines")
    assert "Every page of the garden" in said


def test_outline_of_what_no_note_has_is_denied(zkchat: Program) -> None:
    reply = zkchat("ask", "summarize my notes on recurrence", "--json").json
    assert reply["level"] == "nothing"
    assert "Outline" not in reply["answer"]


def test_a_list_by_day_claims_nothing_about_the_notes(zkchat: Program) -> None:
    """The days are those of the files, which no note names."""
    reply = zkchat("ask", "show the newest two", "--json").json
    assert len(reply["citations"]) == 2
    assert {each["support"] for each in reply["citations"]} <= {"unclear", None}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Welche Notizen haben #wood?", "20 Notizen mit #wood:\n|und 14 weitere: `zkchat vault"),
        ("quelles notes pointent vers Dune ?", "1 note pointe vers Dune :"),
        ("¿a qué notas enlaza Dune?", "Dune enlaza a 1 nota [1]:"),
        ("resuma a nota Starter", "Estrutura de Starter, com as frases principais:"),
        ("Vergleiche Coffee und Kombucha", "Kombucha: nichts in deinen Notizen."),
        (
            "fais un tableau des notes #book",
            "2 notes avec #book, avec leurs propriétés :\n|| note ",
        ),
        ("¿cuántas notas hay?", "Tienes 28 notas."),
        ("mostre as 2 notas mais recentes", "As mais recentes primeiro, 2 de 28 notas:"),
        ("Schreibe ein Gedicht über Coffee", "Ich kann nicht schreiben|über Coffee sagen:"),
        ("lösche die Notiz Dune", "kann keine Notizen ändern|zkchat chat --unsafe --model"),
        ("rappelle-moi d'appeler Paul", "zkchat n'a de rappels avec aucun modèle."),
        ("mostre as notas com #nada", "Nenhuma nota tem a etiqueta nada. Existem: wood, book"),
        ("¿qué enlaza a Nowhere?", "No hay ninguna nota Nowhere."),
        ("was verlinkt auf Twin?", "Twin kann mehrere Notizen meinen: A/Twin.md, B/Twin.md"),
        ("noch mehr", "Es gibt nichts fortzusetzen"),
        ("lista las etiquetas", "2 etiquetas, con el número de sus notas: #wood (20), #book (2)"),
        ("Liste alle Notizen über Zebras", "Ich habe keine Notiz über Zebras gefunden."),
    ],
)
def test_a_request_is_answered_in_its_language(zkchat: Program, message: str, said: str) -> None:
    if "Twin" in message:
        write_notes(zkchat.vault, {"A/Twin.md": "One.\n", "B/Twin.md": "Two.\n"})
    answer = zkchat("ask", message, "--answer-only").out
    for part in said.split("|"):
        assert part in answer


def test_steps_are_those_of_the_section_and_of_the_note_that_is_named(zkchat: Program) -> None:
    pages = {
        "Install Marlow.md": "## Windows\n\n1. Download the setup program.\n2. Run it.\n\n"
        "## Linux\n\nInstall it as a Flatpak.\n",
        "Sourdough.md": "- Steps\n\t- 1. Mix flour and water\n\t- 2. Add the starter\n",
        "2026_02_24.md": "- [[Sourdough]] went flat\n\t- too cold\n\t- put it on the boiler\n",
    }
    write_notes(zkchat.vault, pages)
    linux = zkchat("ask", "how do I install Marlow on Linux", "--answer-only").out
    assert "Install it as a Flatpak." in linux
    assert "Steps from" not in linux
    bread = zkchat("ask", "steps for sourdough", "--answer-only").out
    assert "Steps from Sourdough:\n\n1. “Mix flour and water”" in bread


def test_more_after_an_outline_stays_with_the_notes_that_are_named_so(zkchat: Program) -> None:
    pages = {f"Sync {i}.md": f"Part {i} is copied. Never on tour {i}.\n" for i in range(6)}
    write_notes(zkchat.vault, {**pages, "Print.md": "Select page and sync to print a summary.\n"})
    first = zkchat("ask", "summarize the notes about sync", "--json").json
    more = zkchat("ask", "tell me more", "--cid", first["conversation_id"], "--json").json
    assert more["citations"]
    assert all(each["relative_path"].startswith("Sync") for each in more["citations"])
