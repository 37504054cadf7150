"""The names of common kinds of notes in English, German, French, Spanish and Portuguese: with
`type: book`, a vault has "Bücher". Pure.
"""

_SAME_KINDS = (
    "book books buch bucher buchern livre livres libro libros livro livros",
    "recipe recipes rezept rezepte rezepten recette recettes receta recetas receita receitas",
    "meeting meetings besprechung besprechungen treffen sitzung sitzungen reunion reunions"
    " reuniones reuniao reunioes",
    "person people persons personen leute personne personnes gens persona personas pessoa pessoas"
    " contact contacts kontakt kontakte gente",
    "project projects projekt projekte projekten projet projets proyecto proyectos projeto"
    " projetos",
    "idea ideas idee ideen idees ideia ideias",
    "article articles artikel articulo articulos artigo artigos",
    "movie movies film films filme filmen pelicula peliculas",
    "trip trips travel travels reise reisen voyage voyages viaje viajes viagem viagens",
    "concept concepts konzept konzepte concepto conceptos conceito conceitos begriff begriffe",
    "howto howtos guide guides anleitung anleitungen tutorial tutorials tutoriel tutoriels guia"
    " guias",
    "course courses kurs kurse cours curso cursos",
    "quote quotes zitat zitate citation citations cita citas citacao citacoes",
    "tool tools werkzeug werkzeuge outil outils herramienta herramientas ferramenta ferramentas",
    "incident incidents vorfall vorfalle incidente incidentes",
    "snippet snippets schnipsel extrait extraits fragmento fragmentos trecho trechos",
    "event events ereignis ereignisse evenement evenements evento eventos",
    "goal goals ziel ziele objectif objectifs objetivo objetivos meta metas",
    "journal journals daily dailies diary diaries tagebuch tagebucher diario diarios",
)
KINDS = tuple(tuple(line.split()) for line in _SAME_KINDS)
JOURNAL = KINDS[-1]
_PLURAL_ENDS = ("s", "es", "n", "en", "e")


def possible_singulars(word: str) -> tuple[str, ...]:
    """A word, and it without each end that a plural may have."""
    return (word, *(word.removesuffix(end) for end in _PLURAL_ENDS))
