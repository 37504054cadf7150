"""Notes that are called alike in many folders: the folder's name says what each is about."""

from pathlib import Path

from conftest import write_notes

from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.vault.vault import Vault

TORTO_ARADO = "As irmãs Bibiana e Belonísia vivem na fazenda Água Negra, na Chapada.\n"
HABITOS = "Melhorar 1% por dia vale mais do que uma grande meta.\n"
BOLO = "---\ntitle: Cook\n---\nForno a 180 graus por 40 minutos.\n"
PIZZA = "---\ntitle: Cook\n---\nForno no máximo, com a pedra, por 8 minutos.\n"


def open_vault(folder: Path, notes: dict[str, str]) -> Vault:
    vault = Vault.open(write_notes(folder / "notes", notes), folder / "cache")
    vault.refresh()
    return vault


def test_a_note_that_shares_its_name_is_found_by_its_folder(tmp_path: Path) -> None:
    notes = {
        "Livros/Torto arado/Resumo.md": TORTO_ARADO,
        "Livros/Hábitos atômicos/Resumo.md": HABITOS,
        "Casa/Fazenda.md": "A visita à fazenda foi no domingo.\n",
    }
    vault = open_vault(tmp_path, notes)
    first, *_ = vault.search("como se chama a fazenda de torto arado")
    assert first.relative_path == "Livros/Torto arado/Resumo.md"
    vault.close()


def test_a_note_is_found_by_its_folder_from_the_moment_on_that_another_has_its_name(
    tmp_path: Path,
) -> None:
    alone = open_vault(tmp_path, {"Livros/Torto arado/Resumo.md": TORTO_ARADO})
    assert not alone.search("arado")
    alone.close()
    both = open_vault(tmp_path, {"Livros/Hábitos atômicos/Resumo.md": HABITOS})
    assert [each.relative_path for each in both.search("arado")] == ["Livros/Torto arado/Resumo.md"]
    both.close()


def test_the_folder_tells_which_of_several_recipes_answers() -> None:
    recipes = {"Receitas/Pizza/Cook.md": PIZZA, "Receitas/Bolo de cenoura/Cook.md": BOLO}
    sources = [
        QuoteSource(number, path, "Cook", None, text.rpartition("---\n")[2], number)
        for number, (path, text) in enumerate(recipes.items(), 1)
    ]
    text = "quanto tempo o bolo de cenoura fica no forno"
    message = PromptMessage(role="user", content=text, kind="conversation", tokens=0)
    answer = quote_answer(analyze_question([message], 0), sources)
    assert answer.level == "answer"
    before, found, _ = answer.text.partition("180 graus")
    assert found
    assert "8 minutos" not in before
