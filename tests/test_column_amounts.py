"""Sums of the columns of tables, in five languages."""

import pytest
from factories import AppFixture, answer_to

VAULT = {
    "Loans.md": "# Loans\n\n| What | Per year | From |\n|---|---|---|\n| Boat | 400 | 2021 |\n"
    "| Piano | 1,150 | 2022 |\n| Total | 1,550 | |\n",
    "Kredite.md": "# Kredite\n\n| Was | Pro Jahr |\n|---|---|\n| Boot | 70 |\n| Klavier | 7 |\n",
    "Prêts.md": "# Prêts\n\n| Quoi | Par an |\n|---|---|\n| Bateau | 80 |\n| Piano | 8 |\n",
    "Préstamos.md": "# Préstamos\n\n| Qué | Al año |\n|---|---|\n| Barco | 90 |\n| Piano | 9 |\n",
    "Empréstimos.md": "# Empréstimos\n\n| O quê | Por ano |\n|---|---|\n| Barco | 60 |\n"
    "| Piano | 6 |\n",
    "Honey.md": "---\ncreated: 2026-11-01\n---\n# Honey\n\n| Month | Jars |\n|---|---|\n"
    "| June | 30 |\n| July | 42 |\n| August | 5 |\n",
    "Frost.md": "---\nwarming: -0.5\n---\n# Frost\n",
    "Hill.md": "---\ndistance: 5 km\n---\n# Hill\n",
    "Lake.md": "---\ndistance: 2 kilometres\n---\n# Lake\n",
    "Shore.md": "---\ndistance: 3 mi\n---\n# Shore\n",
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("how much do all my loans cost per year together?", "loans, per year: 1,550. 2 values"),
        ("how much do I pay for the loans a year?", "loans, a year: 1,550. 2 values"),
        ("wie viel kosten meine Kredite pro Jahr zusammen?", "Kredite, pro Jahr: 77"),
        ("combien coûtent mes prêts par an au total ?", "prêts, par an : 88"),
        ("¿cuánto cuestan mis préstamos al año?", "préstamos, al año: 99"),
        ("quanto custam os meus empréstimos por ano?", "empréstimos, por ano: 66"),
        ("total jars", "jars: 77. 3 values"),
        ("total jars from June to July", "jars: 72. 2 values"),
        ("total jars in August", "jars: 5. 1 value"),
        ("total of warming", "warming: -0.5. 1 value"),
    ],
)
def test_the_numbers_of_a_column_are_added(app: AppFixture, message: str, said: str) -> None:
    assert said in answer_to(app, message)


@pytest.mark.parametrize(
    "message",
    [
        "total of distance",
        "Summe von distance",
        "total de distance",
        "suma de distance",
        "soma de distance",
    ],
)
def test_each_unit_has_a_sum_of_its_own(app: AppFixture, message: str) -> None:
    said = answer_to(app, message)
    assert "(km): 7." in said.replace(" :", ":")
    assert "(mi): 3." in said.replace(" :", ":")
