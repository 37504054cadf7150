"""Second remarks after quotations, in five languages: the passage of one of them, and that they are
no list.
"""

import pytest
from factories import AppFixture, report_of

VAULT = {
    "Boiler.md": "# Boiler\n\n## Service\n\nThe boiler was serviced by Hansen in April.\n\n"
    "Hansen replaced the pump.\n\nThe next service is due in two years.\n",
    "Chaudière.md": "# Chaudière\n\nLa chaudière est dans la cave.\n\n"
    "Le ramoneur vient en octobre.\n",
    "Heizung.md": "# Heizung\n\nDie Heizung steht im Keller.\n\nSie braucht alte Filter.\n",
    "Caldera.md": "# Caldera\n\nLa caldera está en el sótano.\n\nEl técnico viene en octubre.\n",
    "Caldeira.md": "# Caldeira\n\nA caldeira fica na cave.\n\nO técnico vem em outubro.\n",
}


def last_answer(app: AppFixture, *messages: str) -> str:
    session = app.session()
    return [report_of(session.send(message)).answer for message in messages][-1]


@pytest.mark.parametrize(
    ("question", "remark", "said"),
    [
        ("who serviced the boiler?", "the first one", "The next service is due in two years."),
        ("who serviced the boiler?", "number 1", "Hansen replaced the pump."),
        ("wo steht die Heizung?", "die erste", "alte Filter"),
        ("où est la chaudière ?", "la première", "Le ramoneur vient en octobre."),
        ("¿dónde está la caldera?", "la primera", "El técnico viene en octubre."),
        ("onde fica a caldeira?", "a primeira", "O técnico vem em outubro."),
    ],
)
def test_a_place_after_quotations_shows_the_section_of_that_quotation(
    app: AppFixture, question: str, remark: str, said: str
) -> None:
    assert said in last_answer(app, question, remark)


@pytest.mark.parametrize(
    ("question", "remark", "said"),
    [
        ("who serviced the boiler?", "and how many?", "there is no list to count"),
        ("who serviced the boiler?", "as a table", "there is no list to put into a table"),
        ("wo steht die Heizung?", "und wie viele?", "Es gibt keine Liste zu zählen"),
        ("wo steht die Heizung?", "als Tabelle", "Es gibt keine Liste für eine Tabelle"),
        ("où est la chaudière ?", "et combien ?", "il n'y a pas de liste à compter"),
        ("où est la chaudière ?", "sous forme de tableau", "pas de liste à mettre en tableau"),
        ("¿dónde está la caldera?", "¿y cuántas?", "no hay ninguna lista que contar"),
        ("¿dónde está la caldera?", "como tabla", "no hay ninguna lista para una tabla"),
        ("onde fica a caldeira?", "e quantas?", "não há lista para contar"),
        ("onde fica a caldeira?", "como tabela", "não há lista para uma tabela"),
    ],
)
def test_quotations_are_no_list_to_count_or_to_put_into_a_table(
    app: AppFixture, question: str, remark: str, said: str
) -> None:
    assert said in last_answer(app, question, remark)


def test_what_cannot_be_done_with_quotations_leaves_them_for_the_next_remark(
    app: AppFixture,
) -> None:
    said = last_answer(app, "who serviced the boiler?", "as a table", "and how many?")
    assert "no list to count" in said
