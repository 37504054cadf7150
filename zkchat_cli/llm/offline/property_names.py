"""The names of common properties in English, German, French, Spanish and Portuguese:
"Geburtstag" is the key `birthday` in another language. Pure.
"""

from collections.abc import Iterable

from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.patterns import lazy_pattern

_SAME_NAMES = (
    "title titel titre titulo",
    "date datum fecha data day tag",
    "created creation erstellt cree creado criado",
    "birthday birthdate birth born dateofbirth dob geburtstag geburtsdatum anniversaire naissance"
    " datedenaissance cumpleanos nacimiento fechadenacimiento aniversario nascimento"
    " datadenascimento",
    "author authors writer autor autorin autoren auteur auteurs autrice autora autores",
    "rating ratings score stars bewertung bewertungen wertung sterne note notes evaluation"
    " etoiles valoracion valoraciones calificacion puntuacion nota notas estrellas avaliacao"
    " avaliacoes classificacao estrelas",
    "status state stand zustand statut etat estado situacao",
    "due duedate deadline falligkeit faelligkeit falligkeitsdatum frist termin echeance"
    " datelimite delai vencimiento fechalimite plazo vencimento prazo datalimite",
    "price cost costs preis kosten prix cout precio coste costo preco custo",
    "people person persons attendees attendee participants participant present with who"
    " teilnehmer teilnehmende anwesende beteiligte personen leute personnes participants presents"
    " gens asistentes participantes personas pessoas presentes",
    "location place where city ort stadt lieu ville lugar ubicacion ciudad local cidade",
    "tags tag keywords schlagworter schlagworte etiquettes etiquetas",
    "phone telephone tel mobile phonenumber telefon telefonnummer handy telefono movil telefone"
    " celular",
    "email mail correo courriel",
    "address adresse anschrift direccion endereco",
    "pages page seiten seitenzahl paginas",
    "year jahr annee ano",
    "genre category kategorie categorie categoria genero",
    "priority prioritat prioritaet priorite prioridad prioridade",
    "duration length time totaltime preptime cooktime dauer zeit lange duree temps duracion"
    " tiempo duracao tempo",
    "language sprache langue idioma lingua",
    "source url link quelle fuente fonte",
    "servings serves yield portions portionen personen porciones raciones porcoes",
    "company firma unternehmen entreprise societe empresa",
)
_GROUPS = tuple(tuple(line.split()) for line in _SAME_NAMES)
PEOPLE = next(group for group in _GROUPS if "attendees" in group)
_MARKS = lazy_pattern(r"[\s_-]+")
_ARTICLES = lazy_pattern(
    r"^(?:(?:an?|the|any|eine?[nrms]?|der|die|das|un[ea]?|le|la|l['’]|d['’]|de|el|uma?|o) ?\b)+"
)


def same_names(written: str) -> tuple[str, ...]:
    """A name as it is compared, and those of other languages for the same."""
    bare = _bare(written)
    return next((group for group in _GROUPS if bare in group), (bare,))


def is_for_people(written: str) -> bool:
    """Whether a name is one for those who were there; "portions" only shares a word with those."""
    return _bare(written) in PEOPLE


def is_common_name(written: str) -> bool:
    """Whether a name is one that vaults often have for a property."""
    return any(_bare(written) in group for group in _GROUPS)


def name_in_vault(written: str, names: Iterable[str]) -> str:
    """The property that a name means among those of a vault, the most frequent first; empty if it
    has none.
    """
    known = list(names)
    bare = _bare(written)
    exact = [name for name in known if _bare(name) == bare]
    same = [name for name in known if _bare(name) in same_names(written)]
    return next(iter([*exact, *same]), "")


def _bare(name: str) -> str:
    """`due-date`, `due date` and "a due date" are compared as "duedate"."""
    return _MARKS.sub("", _ARTICLES.sub("", bare_text(name).strip()))
