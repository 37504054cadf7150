"""The patterns of requests for notes that nothing links to, and for links to nothing. See
`request_slots`.
"""

from zkchat_cli.llm.offline.request_slots import COUNTED, NOTES, family

_ASKED = r"(?:(?:{show}|which|what|welche|quelles?|que|quais|cuales) )?(?:(?:{all}|{the}) )*"
_COUNTED = r"{how_many}"
_RELATIVE = (
    r"(?:(?:that|which|die|auf die|zu denen|qui|que|vers lesquelles|a las que|(?:para )?as quais"
    r"|a quienes) )?"
)
_BEING = (
    r"(?:(?:are|is|have|sind|werden|haben|ne sont|sont|n['’]ont|no estan|estan|nao estao|estao) )?"
)
_ORPHANED = (
    r"(?:orphan(?:ed)?|unlinked|unreferenced|verwaist\w*|orphelin\w*|huerfan[oa]s?|orfas?|orfaos?)"
)
_ISOLATED = (
    r"(?:isolated|disconnected|unconnected|isoliert\w*|unverbunden\w*|isolee?s?|aislad[oa]s?"
    r"|isolad[oa]s?|desconectad[oa]s?)"
)
_NOT_LINKED = (
    r"(?:(?:nothing|no (?:other )?(?:notes?|page)|nobody) (?:else )?(?:links?|points?|refers?) to"
    r"|(?:are )?(?:not|never) (?:linked|referenced)(?: (?:to|from|by|in|anywhere|any|other|notes?"
    r"|another|one|else))*|linked from nowhere|(?:have |with |without )?(?:no|any)?"
    r" ?(?:back-?links?|incoming links?|inbound links?)"
    r"|(?:nichts|keine (?:andere )?notiz|niemand)(?: (?:hin|anderes))? ?(?:verlinkt|verweist|zeigt)"
    r"|(?:nirgends|nirgendwo|nicht|nie)(?: (?:von|in|anderen|notizen))* verlinkt(?: sind| werden)?"
    r"|(?:ohne |keine )(?:backlinks?|ruckverweise|eingehenden? (?:links|verweise))(?: haben)?"
    r"|(?:aucune (?:autre )?note|rien) ne (?:pointe|renvoie|mene)(?: vers)?"
    r"|(?:pas |nulle part |jamais )liees?(?: nulle part)?|liees? (?:a|par|depuis) aucune?[ \w]*|"
    r"(?:sans|aucun|pas de)"
    r" (?:retrolien|lien entrant|backlink)s?"
    r"|(?:nada|ninguna (?:otra )?nota|nadie) (?:enlaza|apunta|vincula)(?: a)?"
    r"|no (?:enlaza|apunta|vincula) (?:nada|nadie|ninguna?[ \w]*)"
    r"|(?:with no|without(?: any)?|ohne|sans(?: aucun)?|sin(?: ningun)?|sem(?: nenhum)?)"
    r" (?:links?|liens?|enlaces?) (?:pointing )?(?:to|zu|auf|vers|hacia|a|para)"
    r" (?:them|ihnen|sie|elles|ellas|elas)"
    r"|(?:enlazad|vinculad)[oa]s (?:desde|por|en) (?:ninguna?|otr[oa]s?)[ \w]*"
    r"|(?:sin|no tienen) (?:backlinks|retroenlaces|enlaces entrantes)"
    r"|(?:nada|nenhuma (?:outra )?nota|ninguem) (?:aponta|linka|liga)(?: para)?"
    r"|(?:linkad|ligad|referenciad)[oa]s (?:por|em|de) (?:nenhuma?|outr[oa]s?|lugar)[ \w]*"
    r"|(?:sem|nao tem) (?:backlinks|links? (?:de entrada|recebidos)))"
)
_NOTES = (
    rf"(?:(?:{{notes}}),? {_RELATIVE}{_BEING}(?:{_NOT_LINKED}|{_ORPHANED})(?: sind)?"
    rf"|{_ORPHANED} (?:{{notes}})|orphans|orphelines|huerfanas|orfas)"
)
_ALSO_THERE = (
    r"(?: (?:in my (?:notes|vault)|do i have|are there|habe ich|gibt es|y a[- ]t[- ]il|hay|tengo|ha"
    r"|tenho))?"
)
_TRIGGERS = (
    "orphan isolat isoliert disconnected unconnected unverbunden desconectad unlinked unref"
    " verwaist orphelin isole huerfan aislad orfa nothing no"
    " never not link back incoming inbound nichts kein nirgend nicht ohne rien aucun sans pas null"
    " nada ningun sin nenhum sem nao without"
)
_NEEDS = f"{NOTES} orphan orphelin huerfan orfa"
ORPHANS = family("list", _TRIGGERS, rf"{_ASKED}{_NOTES}{_ALSO_THERE}", needs=_NEEDS, is_orphan=True)
COUNTED_ORPHANS = family(
    "count", _TRIGGERS, rf"{_COUNTED}{_NOTES}{_ALSO_THERE}", needs=COUNTED, is_orphan=True
)
_LINKING_TO_NOTHING = (
    r"(?:(?:links?|points?|refers?)(?: to)? (?:nothing|nowhere|no (?:other )?notes?)"
    r"|(?:auf )?(?:nichts|nirgends|nirgendwohin)"
    r" (?:verlinken|verweisen|zeigen)"
    r"|(?:verlinken|verweisen|zeigen) (?:auf )?(?:nichts|nirgendwohin)"
    r"|ne (?:pointent|renvoient|menent)(?: vers| a)? (?:rien|nulle part|aucune (?:autre )?note)"
    r"|no (?:enlazan|apuntan|vinculan)(?: a)? (?:nada|ning\w+(?: (?:otra )?nota)?)"
    r"|nao (?:apontam|linkam|ligam)(?: para| a)? (?:nada|nenhuma(?: outra)?(?: nota)?))"
)
_THAT = r"(?:(?:that|which|die|qui|que) )?"
DEAD_ENDS = family(
    "list",
    "nothing nowhere nichts nirgend rien nada ning nenhum no",
    rf"{_ASKED}(?:{{notes}}),? {_THAT}{_LINKING_TO_NOTHING}",
    needs=NOTES,
    unlinked="-",
)
_AND = r",? (?:and|nor|und|et|y|e|ni|nem) "
# Notes without a link in either direction
_THEM = r"(?: (?:to )?(?:them|it)| (?:hin|darauf|auf sie)| vers elles| a ellas| (?:para )?elas)?"
_IN_NO_DIRECTION = (
    rf"(?:{_LINKING_TO_NOTHING}{_AND}{_RELATIVE}{_BEING}{_NOT_LINKED}{_THEM}"
    rf"|{_BEING}{_NOT_LINKED}{_THEM}{_AND}{_THAT}{_LINKING_TO_NOTHING}"
    rf"|{_BEING}{_ISOLATED}"
    r"|(?:with|have|having|mit|haben|avec|ont|con|tienen|com|tem)? ?"
    r"(?:no|neither|without|without any|ohne|keine|sans|sin|sem|ni|nem|weder)"
    r" (?:incoming|outgoing|eingehende|ausgehende)n?(?: (?:links?|verweise))?"
    r" (?:and|or|nor|und|oder|noch) (?:without )?(?:no )?(?:incoming|outgoing|eingehende"
    r"|ausgehende)n? (?:links?|verweise)(?: haben)?"
    r"|(?:without|with no|ohne|sans|sin|sem)(?: any)? (?:links?|verweise|liens?|enlaces?)"
    r" (?:in (?:either|any|both) directions?|in (?:eine|beide|keine[rn]?|irgendeine)[rn]?"
    r" richtung(?:en)?|dans (?:aucun|les deux) sens|en ning\w+ (?:direccion|sentido)"
    r"|em nenhum(?:a)? (?:direcao|sentido)))"
)
_ALONE = rf"(?:(?:{{notes}}),? {_RELATIVE}{_IN_NO_DIRECTION}(?: sind)?|{_ISOLATED} (?:{{notes}}))"
ISOLATED = family(
    "list",
    _TRIGGERS,
    rf"{_ASKED}{_ALONE}{_ALSO_THERE}",
    needs=NOTES,
    is_orphan=True,
    unlinked="-",
)
COUNTED_ISOLATED = family(
    "count",
    _TRIGGERS,
    rf"{_COUNTED}{_ALONE}{_ALSO_THERE}",
    needs=COUNTED,
    is_orphan=True,
    unlinked="-",
)
_LINKS = r"(?:wiki ?-?)?(?:links?|verlinkungen|verweise|liens?|enlaces?|vinculos?|ligacoes)"
_BROKEN = (
    r"(?:broken|dead|dangling|missing|unresolved|kaputt\w*|defekt\w*|tot(?:en?)?|ungultig\w*|rompus?"
    r"|casses?|morts?|brises?|rot[oa]s?|muert[oa]s?|quebrad[oa]s?|mort[oa]s?|invalid[oa]s?)"
)
_DEAD = (
    rf"(?:{_BROKEN} {_LINKS}|{_LINKS} {_RELATIVE}{_BEING}{_BROKEN}"
    rf"|{_LINKS} {_RELATIVE}(?:go|lead|point|fuhren|zeigen|menent|pointent|llevan|apuntan|levam"
    r"|apontam) (?:nowhere|to nothing|ins leere|ins nichts|nulle part|a ninguna parte|a nada"
    r"|para nada|a lugar nenhum))"
)
_LINK_WORDS = "link wiki verlinkung verweis lien enlace vinculo ligacoes"
BROKEN = family("list", _LINK_WORDS, rf"{_ASKED}{_DEAD}{_ALSO_THERE}", what="broken links")
COUNTED_BROKEN = family(
    "count",
    _LINK_WORDS,
    rf"{_COUNTED}{_DEAD}{_ALSO_THERE}",
    needs=COUNTED,
    what="broken links",
)
