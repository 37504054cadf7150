"""Words that are other words without their accents, by language: "hätte" and "hatte"."""

OTHER_WORDS = {
    "german": (
        "hätte hätten hättest würde würden würdest wäre wären könnte könnten müsste müssten dürfte "
        "dürften möchte möchten bräuchte bräuchten brächte dächte wüsste gäbe käme läge säße nähme "
        "schön schöner schöne früher über "
        "für führen fuhr führ Mütter Väter Brüder Töchter Äpfel Vögel Gärten Läden Häfen Öfen "
        "Nägel Mäntel Böden Gräben Bögen Mägen Schwäger Klöster drücken drückte drückt fördern "
        "fördert fördernd zählen zählt zählte fällen fällt fälle lösen löste löst schwül tränken "
        "läuten läutet läutete lauter läuft kühl Bär Bären Küchen Stärke Länge Härte Kälte Wärme "
        "Güte Höhle höhle Größe älter jünger länger kürzer stärker härter kälter wärmer ärmer "
        "schärfer klüger dümmer "
        "hält rät fährt trägt schlägt lässt gefällt böse öde Büsche Züge Flüge Brüche Tücher Dämme "
        "Wände Hände Bände Stände stände fänden Kämme Säle Pässe Bässe Fässer Wälle Bälle Fälle "
        "Ställe Mäuse Häuser läse lägen sähen größten Höfe Töne tönen Söhne söhne Röcke Stöcke "
        "Böcke Köpfe Zöpfe Tröge Züchten züchten Füße Nüsse Schlüsse schlüsse Küsse küssen Münder "
        "Wölfe Fröste Gäste Äste Ärzte Nächte Mächte mächte Kräfte Säfte nützen mögen rösten bücken"
        " höchst nächst wähle wählen fühlte Tür Mühle spüren Schäfer"
    ),
    "french": (
        "où là à dû mûr sûr jeûne côté pêche péché pêcher pécher tâche tâcher forêt mâle acné "
        "congrès dés né gêne gène châsse hâler boîte matin mâtin cote côte rôder roder cure curé "
        "pale pâle mat mât sale salé tache taché notre nôtre votre vôtre répéré élève relève élevé "
        "relevé hale hâle prêt près très dès règle réglé infecte infecté modèle modelé pêne peine "
        "traitre traître goûte goutte foret fût fut eût crû cru rèpère bâiller bailler interne "
        "interné ferme fermé casse cassé arrêté arrête juge jugé marche marché passé passe"
    ),
    "spanish": (
        "él tú mí sí sé té dé más aún qué quién cómo cuándo dónde cuál sólo está están esté año "
        "años "
        "ano anos papá mamá país público publicó publico número numeró numero término terminó "
        "termino hábito habitó habito capítulo depósito depositó ánimo animó ejército ejercitó "
        "práctica practicó crítica criticó médico medicó tráfico traficó cálculo calculó límite "
        "limité diálogo dialogó ingles ingle inglés cortés sabana sábana bebé jugo jugó pena peña "
        "cana caña mono moño una uña sueno sueño campana campaña ordeno tono toño hacía sabía río "
        "ríe lucía continúa actúa"
    ),
    "portuguese": (
        "pôde é às à há dá já só nós vós avó avô pôr pára pêlo pélo país pais cocô está estás "
        "estão público publico número numero médico medico fábrica fabrica história dívida divida "
        "dúvida duvida secretária secretaria sábia sábio sábia sabiá análise analise prática "
        "pratica crítica critica sítio sede maio têm vêm crê lê vê "
        "pó nó mágoa magoa inicio início negócio negocio último ultimo angústia mês mes doméstico "
        "trânsito válido valido maçã maça bebê bebe coma comá influência"
    ),
    "italian": (
        "è là lì né sì sé dà già più però perché così può ciò papà metà città pero perì pesca "
        "pésca "
        "porto portò ancóra"
    ),
    "swedish": (
        "får för fört hår här här där står mål låg lägg åt öl rån råd säg så på ål är år ön växa "
        "hålla sätt rått vår våg väg kål höst båda bröst skål mörk räka såg rätt hör bör kör"
    ),
    "danish": "når få må så på år å går får hår",
    "polish": (
        "są być być żyć kąt sąd być robić łaska laska być źle każe każę być mąż wódka sól być pić "
        "ciąć też że już była bał łoś"
    ),
    "turkish": "kır kırmak öl ölmek on ön kış sınır açı acı kaş yaş",
    "russian": "всё осёл нёбо мёл чём узнаём тёщу",
    "arabic": "سأل رأس فأر كأس بأس إلا أم",
}
"""A word may be written with or without its accents here: it is compared without."""

LOANWORDS = frozenset(
    "cafe naivete cliche fiance fiancee resume expose souffle canape entree matinee melee nee "
    "passe pate protege puree saute soiree toupee touche decor decollete communique consomme "
    "attache blase risque roue sake jalapeno pina senor pinata pena facade".split()
)
"""Words of French and Spanish that English writes without accents as often as with them."""
