"""Words at which a clause begins, and words with which a subject or an adverbial begins, by
language; written as in `negations`.
"""

CONTRASTS = {
    "english": "but although though however whereas while",
    "german": "aber sondern doch jedoch obwohl während hingegen",
    "french": "mais bien_que quoique cependant alors_que tandis_que",
    "spanish": "pero sino aunque mientras sin_embargo",
    "portuguese": "mas embora porém enquanto contudo",
    "italian": "ma però sebbene mentre",
    "dutch": "maar hoewel terwijl",
    "swedish": "men medan",
    "danish": "men",
    "polish": "ale lecz jednak chociaż choć",
    "czech": "ale avšak ačkoli",
    "russian": "но однако хотя зато",
    "ukrainian": "але проте хоча",
    "greek": "αλλά όμως ενώ",
    "arabic": "لكن ولكن بينما بل",
    "hebrew": "אבל אך",
    "turkish": "ama fakat",
    "indonesian": "tetapi tapi",
}
REASONS = {
    "english": (
        "because since as so hence therefore thus which who whom whose where when after before"
    ),
    "german": "weil da denn deshalb daher sodass damit welche welcher welches wo nachdem bevor",
    "french": "parce_que car puisque donc qui dont où lorsque quand après avant afin pour",
    "spanish": "porque ya_que pues por_eso así_que donde cuando después antes para",
    "portuguese": "porque pois já_que por_isso onde quando depois antes para",
    "italian": "perché poiché quindi dove quando dopo prima",
    "dutch": "omdat want dus waar toen nadat",
    "swedish": "eftersom därför ty så när",
    "polish": "ponieważ bo więc gdy kiedy gdzie",
    "russian": (
        "потому_что поскольку так_как поэтому который которая которое которые где когда чтобы"
    ),
    "greek": "επειδή γιατί διότι όπου όταν",
    "arabic": "لأن لذلك حيث الذي التي عندما بعد قبل",
    "hebrew": "כי לכן כאשר",
    "turkish": "çünkü",
}
AND_WORDS = "and or und oder et ou y och eller og oraz lub и или και ή ve veya"
LANGUAGE_AND_WORDS = {
    "spanish": "e o u",
    "portuguese": "e",
    "italian": "e ed o",
    "dutch": "en of",
    "polish": "i a",
    "czech": "a i nebo",
    "russian": "а",
}
"""Conjunctions that join clauses and words alike; the second ones are other words elsewhere."""
THAT_WORDS = "that dass daß que qu' che dat att at że że что ότι أن hogy ki"
UNSPACED_CONTRASTS = (
    "但 但是 可是 然而 不过 不過 虽然 雖然 因为 因為 所以 因此 而 けど けれど しかし が、 ので "
    "から、 ため、"
)

SUBJECTS = {
    "english": "it he she they we i you there this that these those",
    "german": "er sie es wir ihr ich du man dies dieser diese dieses",
    "french": "il elle ils elles on nous vous je j' tu ce c' cela ceci",
    "spanish": "él ella ellos ellas nosotros yo usted ustedes esto eso",
    "portuguese": "ele ela eles elas nós eu você vocês isto isso",
    "italian": "lui lei loro noi io egli essa esso ciò",
    "dutch": "hij zij ze wij ik jij het dit",
    "swedish": "han hon det de vi jag",
    "polish": "on ona ono oni one my ja to",
    "russian": "он она оно они мы я ты вы это",
    "greek": "αυτός αυτή αυτό εμείς εγώ",
    "arabic": "هو هي هم نحن أنا هذا هذه",
    "hebrew": "הוא היא הם אנחנו אני זה",
}
FINITE_VERBS = {
    "english": (
        "is are was were has have had will would can could should must does do did isn't aren't "
        "wasn't weren't came went took gave began grew fell rose ran sang spoke wrote drew ate "
        "drank wore threw shook chose drove flew froze knew woke swam"
    ),
    "german": (
        "ist sind war waren hat haben hatte hatten wird werden wurde wurden kann können muss kam "
        "kamen ging gingen nahm nahmen gab gaben fiel fielen lief liefen stand standen schrieb "
        "schrieben trug trugen fuhr fuhren blieb blieben fand fanden hielt hielten begann begannen"
    ),
    "french": (
        "est sont était étaient a ont avait avaient sera seront peut peuvent doit doivent vient "
        "viennent vint vinrent arriva arrivèrent prit prirent alla allèrent resta restèrent"
    ),
    "spanish": (
        "es son era eran está están fue fueron ha han había será puede pueden debe deben vino "
        "vinieron llegó llegaron tomó tomaron dio dieron hizo hicieron salió salieron cayó cayeron"
    ),
    "portuguese": (
        "é são era eram está estão foi foram tem têm tinha será pode podem deve devem veio vieram "
        "chegou chegaram tomou tomaram deu deram fez fizeram saiu saíram caiu caíram"
    ),
    "italian": "è sono era erano ha hanno aveva sarà può possono deve",
    "dutch": "is zijn was waren heeft hebben wordt worden kan kunnen moet",
    "swedish": "är var har hade blir kan ska",
}
"""Behind a few words without an article, these show that they are a subject: "and winds were". None
of them is a participle, too: "plums and pears sold in Kent" has one subject.
"""
ADVERBS = (
    "then soon later also never finally still again once twice just only even perhaps dann bald "
    "später auch nie endlich noch wieder einmal zweimal nur puis bientôt aussi jamais enfin encore "
    "luego pronto también nunca después entonces depois logo também então"
)
"""These are no subject before a verb: "and soon came home"."""
DETERMINERS = {
    "english": "the a an my your his her its our their every each no all both some",
    "german": "der die das ein eine mein meine sein seine ihr ihre unser unsere kein keine alle",
    "french": "le la les l' un une des mon ma mes son sa ses notre nos leur leurs chaque tous",
    "spanish": "el la los las un una unos unas mi mis su sus nuestro nuestra cada todos todas",
    "portuguese": "o a os as um uma uns umas meu minha seu sua nosso nossa cada todos todas",
    "italian": "il lo la i gli le un una mio mia suo sua ogni tutti",
    "dutch": "de het een mijn zijn haar onze elke alle",
    "swedish": "en ett min mitt hans hennes vår alla",
    "russian": "мой моя его её их наш наша каждый все",
    "greek": "ο η το οι τα ένας μία ένα",
}
PREPOSITIONS = (
    "in on at for by with during before after until from under over near inside outside when while "
    "if where im am um für mit bei während vor nach auf unter an bis dans en pour avec pendant "
    "avant "
    "après sur chez quand para con durante antes después sobre cuando com depois quando per в на "
    "при для с до после во когда في على عند مع"
)
WITHOUT_WORDS = (
    "without ohne sans sin sem senza zonder utan uden uten без bez χωρίς بدون دون بلا בלי ללא "
    "with_no"
)
"""Behind a quotation these do not negate it: "you can write without breaking the flow"."""
DIFFERENT_WORDS = {
    "english": (
        "ha mai cap res fast will solo bis men pare on ni hors point min car want an die sense "
        "plant suppose minimal sept due falls del"
    ),
    "german": "mai noch ei an on",
    "french": "bis cap pare on",
    "spanish": "ha mai",
    "portuguese": "no ha um na",
    "italian": "ne si ha",
    "romanian": "si",
    "dutch": "om nu",
    "swedish": "till tak nu",
    "danish": "till tak nu om",
    "norwegian": "till tak nu om",
    "finnish": "kun",
    "polish": "tak on",
}
"""Words of other languages' tables that are other words in this language."""
