"""Comparisons of two sides on one aspect, on a vault in five languages."""

import pytest
from factories import AppFixture, answer_to, report_of

VAULT = {
    "Podman.md": "# Podman\n\nPodman needs no daemon.\n\nRootless Podman binds no low ports.\n\n"
    "## Price\n\nPodman is free software for everyone.\n",
    "Docker.md": "# Docker\n\nDocker needs a daemon.\n\nRootless Docker forwards its ports.\n",
    "Lord of the Rings.md": "# Lord of the Rings\n\nThe ring goes to Mordor.\n",
    "Dune.md": "# Dune\n\nThe spice comes from Arrakis.\n",
    "Heizung.md": "# Heizung\n\n## Wärmepumpe\n\nDie Wärmepumpe kostet 24000 Euro.\n\n"
    "Die Wärmepumpe ist leise.\n\n## Gasheizung\n\nDie Gasheizung kostet 9000 Euro.\n\n"
    "Die Gasheizung braucht Wartung.\n",
    "Voitures.md": "# Voitures\n\n## Clio\n\nLa Clio coûte 18000 euros.\n\n"
    "La Clio a une peinture rouge vif.\n\n"
    "## Zoé\n\nLa Zoé coûte 33000 euros.\n\nLa Zoé est silencieuse.\n",
    "Bicicletas.md": "# Bicicletas\n\n## Orbea\n\nLa Orbea cuesta 1500 euros.\n\n"
    "La Orbea pesa 9 kilos.\n\n## BH\n\nLa BH cuesta 1200 euros.\n\n"
    "La BH tiene una garantía de cinco años.\n",
    "Internet.md": "# Internet\n\n## Vivo\n\nA Vivo cobra 120 reais.\n\n"
    "A Vivo tem atendimento ruim.\n\n## Claro\n\nA Claro cobra 99 reais.\n\n"
    "A Claro instalou em dois dias.\n",
}


@pytest.mark.parametrize(
    ("message", "said", "unsaid"),
    [
        ("compare podman with docker on rootless ports", ["no low ports", "its ports"], "daemon"),
        ("how do podman and docker differ on ports?", ["no low ports", "its ports"], "daemon"),
        ("Wärmepumpe und Gasheizung bezüglich Preis vergleichen", ["24000", "9000"], "leise"),
        ("compare le prix de la Clio et de la Zoé", ["18000", "33000"], "rouge"),
        ("compara la Orbea y la BH en cuanto al precio", ["1500", "1200"], "kilos"),
        ("compare o preço da Vivo com o da Claro", ["120 reais", "99 reais"], "atendimento"),
    ],
)
def test_the_aspect_chooses_what_is_quoted_of_both_sides(
    app: AppFixture, message: str, said: list[str], unsaid: str
) -> None:
    answer = answer_to(app, message)
    assert all(each in answer for each in said)
    assert unsaid not in answer


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("compare podman and docker on price", "nothing on price in your notes about docker."),
        (
            "Vergleiche Wärmepumpe und Gasheizung bezüglich der Wartung",
            "nichts zu Wartung in deinen Notizen über Wärmepumpe.",
        ),
        ("compare la Clio et la Zoé sur la peinture", "rien sur peinture dans vos notes"),
        (
            "compara la garantía de la Orbea y la BH",
            "nada sobre garantía en tus notas sobre Orbea.",
        ),
        (
            "compare a Vivo e a Claro quanto ao atendimento",
            "nada sobre atendimento nas suas notas sobre Claro.",
        ),
    ],
)
def test_a_side_without_anything_on_the_aspect_says_so(
    app: AppFixture, message: str, said: str
) -> None:
    assert said in answer_to(app, message)


def test_an_aspect_that_no_side_has_is_told_before_what_both_have(app: AppFixture) -> None:
    answer = answer_to(app, "compare podman and docker regarding opera")
    assert answer.startswith("Nothing on opera in your notes about podman or docker. They say:")
    assert "Docker needs a daemon" in answer


def test_words_of_an_aspect_may_be_the_name_of_a_note(app: AppFixture) -> None:
    answer = answer_to(app, "compare lord of the rings and dune")
    assert answer.startswith("lord of the rings:")
    assert "Mordor" in answer


@pytest.mark.parametrize(
    ("message", "remark", "said"),
    [
        ("compare podman and docker", "and on ports?", ["no low ports", "its ports"]),
        ("Vergleiche Wärmepumpe und Gasheizung", "und beim Preis?", ["24000", "9000"]),
        ("compare la Clio et la Zoé", "et sur le prix ?", ["18000", "33000"]),
        ("compara la Orbea y la BH", "¿y en cuanto al precio?", ["1500", "1200"]),
        ("compare a Vivo e a Claro", "e no preço?", ["120 reais", "99 reais"]),
    ],
)
def test_an_aspect_may_follow_a_comparison(
    app: AppFixture, message: str, remark: str, said: list[str]
) -> None:
    session = app.session()
    report_of(session.send(message))
    answer = report_of(session.send(remark)).answer
    assert all(each in answer for each in said)
