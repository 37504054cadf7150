"""Words that decide what a clause says: negations, quantities of a whole, and function words that
give a noun its part in the sentence. By language, folded.
"""

NEGATORS = {
    "english": (
        "not never no none nobody nothing nowhere neither nor cannot can't don't doesn't didn't "
        "isn't aren't wasn't weren't won't wouldn't shouldn't couldn't hasn't haven't hadn't "
        "mustn't dont doesnt didnt isnt wasnt wont"
    ),
    "german": (
        "nicht nie niemals kein keine keinen keiner keinem keines nichts niemand niemandem "
        "niemanden nirgends weder nirgendwo"
    ),
    "french": "ne n' non pas jamais aucun aucune rien personne nullement",
    "spanish": "no nunca jamas ningun ninguno ninguna nada nadie tampoco",
    "portuguese": "nao nunca jamais nenhum nenhuma nada ninguem tampouco",
    "italian": "non mai nessun nessuno nessuna niente nulla",
    "dutch": "niet nooit geen niets niemand nergens",
    "swedish": "inte aldrig ingen inget inga",
    "danish": "ikke aldrig ingen intet",
    "norwegian": "ikke aldri ingen",
    "polish": "nie nigdy nikt nic zaden zadna zadne",
    "czech": "ne neni nejsou nebyl nikdy nikdo nic zadny",
    "russian": "не нет никогда никто ничего никакои нельзя",
    "finnish": "ei eivat emme ette koskaan",
    "turkish": "degil yok hic asla",
    "hungarian": "nem nincs soha senki semmi",
}
DOUBLE_NEGATION = frozenset(("english", "german", "dutch", "swedish", "danish", "norwegian"))
"""Languages in which two negations of a clause are none; elsewhere they are one."""
ALL = frozenset(
    (
        "all every each always everyone everybody everything entire entirely whole both alle aller "
        "allen jeder jede jedes jeden immer samtliche ganz tous toutes tout toute chaque toujours "
        "todos todas todo toda cada siempre sempre"
    ).split()
)
MOST = frozenset(
    (
        "most mostly usually almost nearly meisten meist meistens fast beinahe plupart "
        "generalement presque mayoria casi maioria quase geralmente generalmente"
    ).split()
)
SOME = frozenset(
    (
        "some several many few sometimes occasionally often rarely einige manche manchmal viele "
        "wenige oft selten certains certaines quelques plusieurs parfois souvent algunos algunas "
        "varios varias veces muchos alguns algumas varios varias vezes muitos pocos poucos"
    ).split()
)
NEGATED_OTHERWISE = frozenset(
    (
        "without before until unless instead ohne bevor ehe bis statt sans avant sin antes hasta "
        "sem ate"
    ).split()
)
"""Words that make a negation without one: negations of clauses with them are not compared."""
HEDGED = frozenset(
    (
        "may might could perhaps maybe possibly probably allegedly reportedly supposedly likely "
        "seems seem planned plans konnte konnten vielleicht moglicherweise wahrscheinlich "
        "vermutlich angeblich soll sollen peut-etre pourrait pourraient probablement serait quiza "
        "quizas podria podrian probablemente tal talvez poderia poderiam provavelmente"
    ).split()
)
"""Words that say that something is only possible or reported."""
RESTRICTING = frozenset(
    (
        "if unless except only until wenn falls sofern ausser nur bis si sauf seulement jusqu "
        "excepto salvo solo solamente hasta se exceto so somente apenas ate"
    ).split()
)
"""Words that restrict a clause to some cases."""
PREPOSITIONS = {
    "english": (
        "in on at for with by during from to of under near into over through between about against "
        "as since until within without behind beside upon toward towards across along because "
        "despite"
    ),
    "german": (
        "in im ins am an ans auf aus bei beim mit nach seit von vom zu zum zur fur durch gegen "
        "ohne um unter uber vor zwischen wahrend wegen bis hinter neben laut trotz"
    ),
    "french": (
        "à au aux de du des d' en dans pour par sur avec sans sous chez vers pendant depuis entre "
        "contre apres avant selon"
    ),
    "spanish": (
        "a al de del en con por para sobre sin desde hasta entre contra durante segun tras ante"
    ),
    "portuguese": (
        "à ao aos as de do da dos das em no na nos nas com por pelo pela pelos pelas para sobre "
        "sem desde ate entre contra durante apos"
    ),
}
ARGUMENT_PREPOSITIONS = frozenset(
    "to from an von vom a à au aux de du d' al del ao aos do da dos das by durch par por pelo "
    "pela".split()
)
"""Prepositions before somebody or something that takes part."""
BY = {
    "english": "by",
    "german": "von vom durch",
    "french": "par",
    "spanish": "por",
    "portuguese": "por pelo pela pelos pelas",
}
"""Before who acts in a passive clause."""
PASSIVE = {
    "english": "was were is are been be being",
    "german": "wurde wurden wird werden worden",
    "french": "est sont ete etait fut furent sera",
    "spanish": "fue fueron es son sido era sera",
    "portuguese": "foi foram sao sido era sera",
}
THAN = {
    "english": "than",
    "german": "als",
    "french": "que qu'",
    "spanish": "que",
    "portuguese": "que",
}
"""Before what something is compared with."""
BEFORE_NOUNS = frozenset(
    (
        "the a an my your his her its our their this that these those every each no some any of in "
        "on at for with by from into over under der die das den dem des ein eine einen einem einer "
        "kein keine mein dein sein seine ihr ihre unser im am zum zur vom beim von mit fur auf le "
        "la les l' un une des du d' de mon ma mes son sa ses notre leur ce cet cette au aux en sur "
        "pour par el los las unos unas su sus mi este esta al del con por para o os as um uma uns "
        "umas seu sua meu minha do da dos das no na nos nas ao pelo pela com"
    ).split()
)
"""Words right before a noun, its adjective or its preposition."""
OBJECT_ARTICLES = frozenset("den dem einen einem ihn ihm seinen seinem ihren ihrem".split())
"""German articles before what somebody acts on."""
SYMMETRIC = frozenset(
    (
        "meet met marri marry talk speak spoke play equal differ divorc resembl heirat traf treff "
        "sprach sprech spiel rencontr epous parl cas encontr habl fal jog"
    ).split()
)
"""Stems of verbs that say the same with both sides in exchange."""
OBJECT_PRONOUNS = frozenset("it him them they he she es ihn ihm ihnen".split())
"""Words anywhere in a sentence that mean what the sentence before is about."""
PRONOUNS = frozenset(
    (
        "it he she they this that these those er sie es dies diese dieser dieses il elle ils elles "
        "ce cela ceci lo la se el ella ellos ellas esto este esta ele ela eles elas isto isso "
        "lui lei hij zij het он она оно они это"
    ).split()
)
"""Words at the beginning of a sentence that mean what the sentence before is about."""
CLAUSE_WORDS = {
    "english": "and or but although though however whereas while because which who that",
    "german": "und oder aber sondern doch obwohl wahrend weil denn dass",
    "french": "et ou mais bien car parce tandis qui",
    "spanish": "y o u pero sino aunque porque mientras",
    "portuguese": "e ou mas embora porque enquanto",
    "italian": "e ed o ma perche mentre",
    "dutch": "en of maar omdat terwijl",
    "russian": "и а но или однако",
}
"""Words between clauses, or between words alike."""
