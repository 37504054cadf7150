"""Tables in the order of one of their columns, in five languages."""

import pytest
from factories import AppFixture, answer_to

from zkchat_cli.llm.offline.row_orders import sort_rows

VAULT = {
    **{
        f"Servers/Host {i:02}.md": f"---\nram: {ram}\nos: linux\n---\nA host. #server\n"
        for i, ram in enumerate((64, 128, 32, 256, 8, 96, 48, 80, 112, 24, 4, 40))
    },
    "Rents.md": "# Rents\n\n| City | Rent |\n|---|---|\n| Oslo | 1,450 |\n| Porto | 900 |\n"
    "| Bern | 1,800 |\n",
}


@pytest.mark.parametrize(
    "message",
    [
        "table of my servers sorted by ram",
        "servers sorted by ram",
        "Tabelle meiner Server nach RAM sortiert",
        "tableau de mes serveurs trié par ram",
        "tabla de mis servidores ordenada por ram",
        "tabela dos meus servidores ordenada por ram",
    ],
)
def test_notes_are_in_the_order_of_a_property(app: AppFixture, message: str) -> None:
    message = message.replace("serveurs", "#server").replace("servidores", "#server")
    answer = answer_to(app, message)
    assert answer.index("Host 10") < answer.index("Host 04") < answer.index("Host 09")
    assert "256" not in answer


@pytest.mark.parametrize(
    ("message", "first", "last"),
    [
        ("table of rents sorted by rent", "Porto", "Bern"),
        ("table of rents sorted by rent descending", "Bern", "Porto"),
    ],
)
def test_rows_of_a_note_are_in_the_order_of_a_column(
    app: AppFixture, message: str, first: str, last: str
) -> None:
    answer = answer_to(app, message)
    assert answer.index(first) < answer.index("Oslo") < answer.index(last)


def test_an_order_by_a_property_that_no_note_has_is_told(app: AppFixture) -> None:
    answer = answer_to(app, "table of my servers sorted by disks")
    assert "disks" in answer.rpartition("|")[2]


@pytest.mark.parametrize(
    ("order", "sorted_values"),
    [
        ("size", ["0,5 l", "2,5 l", "1.200 l", "large", "small", ""]),
        ("-size", ["1.200 l", "2,5 l", "0,5 l", "small", "large", ""]),
    ],
)
def test_numbers_come_before_texts_and_what_has_no_value_last(
    order: str, sorted_values: list[str]
) -> None:
    values = ["small", "", "2,5 l", "1.200 l", "large", "0,5 l"]
    assert sort_rows(values, order, lambda value: value) == sorted_values
