"""Questions for a phone number, an address for mail, a port or a version need a passage that has
one.
"""

import pytest

from zkchat_cli.llm.offline.asked_values import lack_asked_value


@pytest.mark.parametrize(
    ("question", "near", "answer"),
    [
        (
            "phone number of the roofer",
            "The roofer came on the 16th; 640. Claim number W-330918.",
            "Roofer: 0049 171 555-0143",
        ),
        ("Handynummer vom Dachdecker", "Der Dachdecker kam am 16.", "Dachdecker: 0171/5550143"),
        ("numéro de téléphone du couvreur", "Le couvreur est venu.", "Couvreur : 01 55 50 14 30"),
        (
            "what is Ana's e-mail address",
            "Ana answers mail on Mondays.",
            "Ana: ana.silva@example.org",
        ),
        ("qual é o endereço de e-mail da Ana", "Ana responde.", "ana@example.org"),
        ("which port does the bridge use", "Bridge: 5.50 € a month, no port forwarding", "On 8123"),
        ("welchen Port hat die Brücke", "Die Brücke kostet 12 € im Monat.", "Port: 80"),
        ("which version added boards", "Hold Space; Shift+1 zooms.", "Boards are new in 2.4"),
        ("which version added boards", "Boards may be nested.", "Sketcher 9 › News: boards"),
        ("que versión trajo los tableros", "Los tableros son nuevos.", "Tableros desde la 3.1"),
    ],
)
def test_only_a_passage_with_the_kind_of_value_answers(
    question: str, near: str, answer: str
) -> None:
    assert lack_asked_value(question, [near])
    assert not lack_asked_value(question, [near, answer])


@pytest.mark.parametrize("question", ["who phoned the roofer", "is the bridge port open"])
def test_other_questions_need_no_such_value(question: str) -> None:
    assert not lack_asked_value(question, ["The roofer came."])
