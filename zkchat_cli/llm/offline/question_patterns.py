"""The patterns of requests for what notes say. See `request_slots`."""

from zkchat_cli.llm.offline.request_slots import family

MORE = family(
    "more",
    "more. else. go. next rest. resto. carry continu keep. sonst. mehr. weiter noch. encore plus."
    " sinon autre mas. sigue otra mais. suite davantage",
    r"(?:tell me |give me |show me |show |say |and )*(?:some |even |any |a bit |a little )*more"
    r"(?: details?| results?| of (?:them|it|that|this)| of the same| information| info| sources"
    r"| passages| quotes)?",
    r"(?:tell me |say |show me |give me )*(?:some |a bit |a little )*more"
    r"(?: details?| information| info)? (?:about|on) (?:it|that|this|them|those)",
    r"(?:tell me |say |show me |give me )*(?:some |a bit |a little )*more"
    r"(?: details?| information| info)? (?:about|on) (?P<scope>.+)",
    r"anything more|go on then|(?:keep|carry) on(?: going)?|(?:weitere|noch mehr) (?:ergebnisse"
    r"|details)",
    r"plus (?:de|d['’]) ?(?:details?|resultats?|infos?|informations)|(?:montre|donne)[- ]moi la"
    r" suite"
    r"|et (?:quoi d['’ ]autre|sinon)|(?:mas|mais) (?:detalles|resultados|informacion|detalhes)",
    r"plus d['’]infos? sur (?P<scope>.+)",
    r"(?:is there|do you have|are there|have you got|got) (?:any(?:thing)? )?(?:more|else)"
    r"(?: (?:about|on) (?:it|that|this))?",
    r"(?:and )?(?:any|some)thing else|(?:and )?what else(?: (?:is there|do you (?:have|know)"
    r"|do(?:es)? my notes say|do my notes have))?(?: (?:about|on) (?:it|that|this))?",
    r"go on|continue|keep going|go ahead|carry on|next(?: (?:page|ones?|results?))?|the rest"
    r"|show the rest",
    r"(?:und )?(?:noch )?mehr(?: davon| dazu| daruber| details| ergebnisse)*"
    r"(?: erzahlen| sagen| zeigen| wissen)?|weiter|mach weiter|(?:sonst )?noch (?:et)?was"
    r"|(?:und )?was noch|und weiter|(?:und )?was sonst noch|und sonst(?: noch(?: was)?)?"
    r"|gibt es (?:noch )?mehr(?: dazu)?|der rest",
    r"(?:erzahle?|zeige?|sage?|gib)(?: mir| uns)? (?:noch )?(?:et?was )?mehr"
    r"(?: dazu| daruber| davon)?",
    r"(?:erzahle?|zeige?|sage?|gib)(?: mir| uns)? (?:noch )?(?:et?was )?mehr"
    r" (?:uber|zu|zum|zur) (?P<scope>.+)|mehr (?:uber|zum thema) (?P<scope2>.+)",
    r"encore(?: plus)?|plus|la suite|et (?:puis|ensuite|encore)|continuer?|autre chose"
    r"|quoi d['’ ]autre|(?:dis|donne|montre|raconte)[- ](?:m['’ ]en|moi[- ]en|moi|m['’ ])"
    r" ?(?:plus|davantage)|en savoir plus|y a[- ]t[- ]il autre chose|il y a autre chose|davantage",
    r"(?:dis|donne|montre|raconte|parle)[- ](?:m['’ ]en|moi) ?(?:plus|davantage)"
    r" (?:sur|de|a propos de) (?P<scope>.+)|plus (?:sur|d['’ ]informations sur) (?P<scope2>.+)",
    r"mas|(?:y )?(?:algo|que) mas|(?:hay|tienes) (?:algo )?mas|sigue|continua|otra cosa|el resto"
    r"|(?:cuenta|di|dime|cuentame|muestrame|dame)(?: algo)? mas(?: detalles| resultados)?"
    r"(?: sobre (?:eso|esto|ello))?",
    r"(?:cuentame|dime|muestrame|dame)(?: algo)? mas(?: detalles)? (?:sobre|de|acerca de)"
    r" (?P<scope>.+)|mas sobre (?P<scope2>.+)",
    r"(?:e )?mais(?: (?:detalhes|resultados))?|mais alguma coisa|(?:e )?o que mais|continue"
    r"|o resto|(?:tem|ha|existe) mais(?: alguma coisa)?"
    r"|(?:me )?(?:conte|diga|fale|mostre|conta|diz)(?:-me)?(?: um pouco)? mais"
    r"(?: sobre (?:isso|isto))?",
    r"(?:me )?(?:conte|diga|fale|mostre|conta|diz)(?:-me)?(?: um pouco)? mais (?:sobre|de|do|da)"
    r" (?P<scope>.+)|mais sobre (?P<scope2>.+)",
    r"(?:and )?what else do(?:es)? (?:my|the) notes (?:say|have|tell)(?: about (?:it|that|this))?",
    r"(?:and )?what else do(?:es)? (?:my|the) notes (?:say|have|tell) (?:about|on) (?P<scope>.+)",
)
COMPARE = family(
    "compare",
    "compar vergl zwischen. rapport differ distinct versus vs unterschied unterscheid distingu"
    " diferenc"
    " diferencia difere contrast verschieden",
    r"(?:compare|contrast)(?: [- ]?moi)? (?P<left>.+?) (?:and|with|to|vs\.?|versus|against|und"
    r"|mit|et"
    r"|avec|a|y|con|e|com) (?P<right>.+)",
    r"(?:{show} |{make} )?(?:{the} )*comparison (?:of|between) (?P<left>.+?) (?:and|with|to)"
    r" (?P<right>.+)",
    r"(?:{show} |explain |what(?:['’]s| is| are) ){0,2}(?:{the} |main |key )*(?:differences?"
    r"|unterschiede?) between"
    r" (?P<left>.+?) (?:and|vs\.?|und) (?P<right>.+)",
    r"(?P<left>.{1,60}?) (?:compared (?:to|with)|in comparison (?:to|with)|im vergleich (?:zu|mit)"
    r"|verglichen mit|par rapport a(?:u|ux)?|compare[es]* a(?:u|ux)?|comparad[oa]s? (?:con|com|a)"
    r"|en comparacion con|em comparacao com) (?P<right>.{1,60})",
    r"how do(?:es)? (?P<left>.+?) compare (?:to|with|against) (?P<right>.+)",
    r"how do(?:es)? (?P<left>.+?) and (?P<right>.+?) (?:differ|compare)(?: from each other)?",
    r"(?:en quoi|comment) (?:different|se distinguent) (?P<left>.+?) (?:et|de|des|du)"
    r" (?P<right>.+)",
    r"(?:en quoi|comment) (?P<left>.+?) (?:differe(?:nt)?|se distingue(?:nt)?)"
    r"(?:-t-(?:il|elle))? (?:de|des|du|d['’]) ?(?P<right>.+)",
    r"(?:en que|como) se (?:diferencia[n]?|distingue[n]?) (?P<left>.+?) (?:y|de|del|e|do|da)"
    r" (?P<right>.+)",
    r"(?:em que|como) (?:se )?(?P<left>.+?) (?:difere[m]?|se distingue[m]?|se diferencia[m]?)"
    r" (?:de|do|da|dos|das) (?P<right>.+)",
    r"how (?:does|do|is|are) (?P<left>.+?) (?:differ(?:ent)?|distinct) (?:from|to|than)"
    r" (?P<right>.+)",
    r"(?:what )?(?:distinguishes|separates|sets) (?P<left>.+?) (?:apart )?from (?P<right>.+)",
    r"(?:{the} )*(?:pros and cons of |advantages of )?(?P<left>.{1,60}?) (?:vs\.?|versus)"
    r" (?P<right>.{1,60}?)",
    r"(?:vergleiche?|vergleich)(?: mir| mal| bitte)*(?: von| zwischen)? (?P<left>.+?) (?:mit|und"
    r"|and|vs\.?)"
    r" (?P<right>.+?)",
    r"(?P<left>.+?) (?:mit|und) (?P<right>.+?) (?:vergleichen|im vergleich)",
    r"(?:was (?:ist|sind) |{show} |erklare? )?(?:{the} )*unterschiede? (?:zwischen|von)"
    r" (?P<left>.+?) (?:und|zu|vs\.?) (?P<right>.+)",
    r"(?:worin|wie|wodurch) unterscheide(?:n|t) sich (?P<left>.+?) (?:und|von) (?P<right>.+)",
    r"(?:faire une )?(?:{show} )?(?:{the} )*(?:comparaison|compare[rz]?) (?:entre |de |d['’])?"
    r"(?P<left>.+?) (?:et|avec|a) (?P<right>.+)",
    r"(?:quelles?|c['’]est quoi|quel)?(?: est| sont)? ?(?:{the} )*differences? entre (?P<left>.+?)"
    r" et (?P<right>.+)",
    r"(?:compara|comparar|compare|comparame)(?: entre)? (?P<left>.+?) (?:y|con|e|com|a)"
    r" (?P<right>.+)",
    r"(?:{show} )?(?:{the} )*(?:comparacion|comparacao) (?:entre|de) (?P<left>.+?) (?:y|con|e|com)"
    r" (?P<right>.+)",
    r"(?:cual(?:es)? (?:es|son) |qual (?:e|a) |quais (?:sao )?|que )?(?:{the} )*"
    r"(?:diferencias?|diferencas?) (?:hay )?entre (?P<left>.+?) (?:y|e) (?P<right>.+)",
)
# "Is tea better than coffee?"
BETTER = family(
    "compare",
    "compar better best faster cheaper safer easier healthier worse preferred besser schneller"
    " billiger"
    " gesunder meilleur mieux plus. mejor peor melhor pior",
    r"(?:is|are) (?P<left>.+?) or (?P<right>.+?) (?:better|faster|cheaper|safer|easier|healthier)",
    r"(?:is|are|ist|sind|est|es|e|sao|son)(?: mejor| melhor)? (?P<left>.{1,40}?) (?:really |much"
    r" )?{better}"
    r" (?:than|als|que|do que) (?P<right>.+)",
    r"(?:es mejor|e melhor) (?P<left>.{1,40}?) que (?P<right>.+)",
    r"(?P<left>.{1,40}?) (?:is|ist|est(?:[- ]il|[- ]elle)?|es|e) {better} (?:than|als|que|do que)"
    r" (?P<right>.+)",
    r"(?P<left>.{1,60}?) (?:or|oder|ou|o|u) (?P<right>.{1,60}?)[ :,;¿?-]+(?:which|what|was"
    r"|welche[rs]?|lequel|laquelle|que|cual|qual|o que|qu['’]est[- ]ce qui)(?: (?:one))?"
    r" (?:is|ist|est|es|e) (?:the |le |la |o |a |el )?(?:better|best|besser|mieux|meilleure?"
    r"|mejor|melhor)",
    r"(?:what|which)(?:['’]s)? (?:is |are |do i (?:like|prefer) |works? )?(?:better|best|faster"
    r"|cheaper|"
    r"preferred)[,:]? (?P<left>.+?) or (?P<right>.+)",
    r"(?P<left>.+?) or (?P<right>.+?)[:,;?-]+ (?:please )?(?:compare(?: them)?|which is better"
    r"|what is better)",
    r"was ist (?:besser|schneller|billiger)[,:]? (?P<left>.+?) oder (?P<right>.+)",
    r"(?:qu['’]est[- ]ce qui|lequel) (?:est )?mieux[,:]? (?P<left>.+?) ou (?P<right>.+)",
    r"(?:que|qual|cual|o que) (?:es|e) (?:mejor|melhor)[,:]? (?P<left>.+?) (?:o|ou) (?P<right>.+)",
    needs="than. als. que. or. oder. ou. o. u.",
)
# "Should I take the train or the bus?"
CHOICE = family(
    "compare",
    "should shall soll nehme nimmt kaufe nutze",
    r"(?:should|shall) (?:i|we) (?:better |rather )?(?:use|take|choose|pick|buy|get|prefer)"
    r" (?P<left>.{1,40}?) or (?P<right>.{1,40})",
    r"(?:soll(?:te)?|nehme|nimmt|kaufe|nutze) (?:ich|man|wir) (?:besser |lieber"
    r" )?(?P<left>.{1,40}?)"
    r" oder (?P<right>.{1,40}?)(?: nehmen| kaufen| nutzen| verwenden)?",
    needs="or. oder.",
)
COMPARISONS = (COMPARE, BETTER, CHOICE)
KEY_POINTS = family(
    "outline",
    "key. main. most. central. point idea",
    r"(?:(?:what (?:are|were|is)|what['’]s|{show}) )?(?:{the} )*(?:key|main|most important|central)"
    r" (?:points?|ideas?|lines?|takeaways?|findings?|insights?|messages?) (?:of|in|from|on|about)"
    r" (?P<scope>.+)",
    needs="point idea line takeaway finding insight message",
)
OUTLINE = family(
    "outline",
    "summar sumar sum. heading structure section overview outline gist tl tldr recap"
    " abstract synop zusammenf fass uberblick"
    " gliederung wichtig kern inhalt resum apercu synthese point plan esquema sintesis puntos idea"
    " pontos sintes visao vision principais principales contents idee fasse"
    " wichtigste essentiel vue grandes important esencial essencial essence",
    r"(?:{show} |{make} |what(?:['’]s| is) )?(?:me )?(?:{the} |short |brief |quick"
    r" )*(?:summar(?:y|ies)|outlines?"
    r"|overview|gist|recap|synopsis|tl;?dr|table of contents|headings|structure|sections|abstract)"
    r" (?:(?:of|for|on|about|from|meiner|von|zu) )+(?P<scope>.+)",
    r"tl;?dr:? (?P<scope>.+)|(?:summary|recap|overview):? (?P<scope2>\[\[.+)"
    r"|(?:summary|recap|overview|outline|zusammenfassung|uberblick|resume|apercu|resumen|resumo) ?:"
    r" ?(?P<scope3>.+)",
    r"(?P<scope>(?!{asking} |{show} |{make} )[^ ,:?]+(?: [^ ,:?]+)?) (?:summary|tl;?dr|recap)",
    r"(?:give me |tell me )?(?:{the} )*(?:gist|essence|most important(?: things?| parts?)?)"
    r" (?:of|in|from|about|on) (?P<scope>.+)",
    r"(?:gib mir |nenne mir )?das wichtigste (?:aus|zu|zum|zur|uber|von|in) (?P<scope>.+)",
    r"(?:l['’]essentiel|vue d['’]ensemble|les grandes lignes) (?:de|du|des|sur|d['’])"
    r" ?(?P<scope>.+)",
    r"(?:lo mas importante|lo esencial|o mais importante|o essencial) (?:de|del|do|da|dos|das"
    r"|sobre)"
    r" (?P<scope>.+)",
    r"(?:principais|principales) (?:pontos|ideias|puntos|ideas) (?:de|del|do|da|dos|das|en|em)"
    r" (?P<scope>.+)",
    r"(?:write|draft|schreibe?|ecris|escribe|escreva)(?:[- ](?:me|us|mir|moi))? (?:{the} |short "
    r"|brief )*"
    r"(?:summary|overview|outline|zusammenfassung|uberblick|resume|resumen|resumo)"
    r" (?:of|about|on|von|uber|zu|de|du|des|sur|sobre|do|da) (?P<scope>.+)",
    r"(?:summari[sz]e|sum up|recap|condense)(?: me)?(?: up)? (?P<scope>.+)",
    r"outline (?P<scope>(?:\[\[|my |our |the (?:note|main)|what i ).+)",
    r"fasse?(?: mir)? (?P<scope>.+?)(?: kurz)? zusammen|(?P<scope2>.+?) zusammenfassen",
    r"(?:{show} |{make} |was ist )?(?:{the} |kurze )*(?:zusammenfassung|uberblick|gliederung"
    r"|inhaltsangabe"
    r"|ubersicht)(?: (?:von|uber|zu|zum|zur|der|des|aus|fur|meiner))* (?P<scope>.+)",
    r"(?:(?:was (?:sind|ist)|{show}) )?(?:{the} )*(?:(?:wichtigsten|zentralen|hauptsachlichen) )?"
    r"(?:kern)?(?:punkte|aussagen|ideen|gedanken) (?:in|aus|von|der|zu) (?P<scope>.+)",
    r"resume[rz]?(?:[- ]moi)? (?P<scope>.+)",
    r"(?:{show} |{make}(?:[- ]moi)? )?(?:moi )?(?:{the} )*(?:resume|apercu|synthese)"
    r"(?: (?:de|du|des|sur|d['’]))* (?P<scope>.+)",
    r"(?:(?:{show} |{make}(?:[- ]moi)? )(?:{the} )*plan|(?:le )?plan(?= (?:de |du )?(?:la note"
    r"|mes notes"
    r"|ma note|\[\[)))(?: (?:de|du|des))* (?P<scope>.+)",
    r"(?:quels? (?:sont|est) )?(?:{the} )*(?:points? (?:cles?|principaux|importants?)"
    r"|idees? (?:cles?|principales?)) (?:de|du|des|dans) (?P<scope>.+)",
    r"(?:resume|resumir|resumeme|resuma|resumir|sintetiza) (?P<scope>.+)",
    r"(?:{show} |{make} )?(?:{the} )*(?:resumen|resumo|esquema|sintesis|sintese|vision general"
    r"|visao geral)(?: (?:de|del|do|da|dos|das|sobre|en|em))* (?P<scope>.+)",
    r"(?:cuales son |quais sao )?(?:{the} )*(?:puntos|pontos|ideas|ideias)"
    r" (?:clave|principais|principales|chave|importantes|mas importantes|mais importantes)"
    r" (?:de|del|do|da|en|em) (?P<scope>.+)",
)
# "What is in the note Habits?"
WHAT_A_NOTE_SAYS = family(
    "outline",
    "what worum wovon was. quoi que. o.",
    r"de que va (?P<scope>(?:(?:la|mi) )?(?:\[\[.+|nota .+))",
    r"what(?:['’]s| is| are) (?P<scope>(?:my|the) notes? (?:on |about )?.+) about",
    r"what(?:['’]s| is| does) (?:in|inside) (?P<scope>\[\[.+\]\]|(?:my|the) note .+)",
    r"what is (?P<scope>\[\[.+\]\]|(?:my|the) note .+) about",
    r"(?:worum geht(?: e)?s in|wovon handelt|was steht in|de quoi (?:parle|traite)|de que (?:trata"
    r"|habla)|sobre que (?:es|trata)|que dice|do que (?:trata|fala)|sobre o que e|o que diz)"
    r" (?P<scope>(?:(?:der|die|meiner|la|ma|mi|a|minha) )?(?:\[\[.+|(?:note|notiz|nota) .+))",
    needs="[[ note notiz nota",
)
WHAT_IS = family(
    "definition",
    "what whats who. whos was.",
    r"(?:what(?:['’]s| is| are| was| were|s)|whats|what exactly (?:is|are)|tell me what (?:is"
    r"|are)?)"
    r"(?: exactly)?(?: actually)? (?:the meaning of |meant by |the definition of )"
    r"(?P<about>.+?)(?: (?:exactly|actually))?",
    r"what (?P<about>(?:an? |the ).+) (?:is|are|means)",
    r"(?:what(?:['’]s| is| are| was| were)|whats|what exactly (?:is|are)|who(?:['’]s| is| are| was"
    r"| were)|whos)(?: exactly| actually)? (?P<about>(?:{the} )*(?:[^\s]+ ?){1,4}?)"
    r"(?: (?:exactly|actually))?",
    r"what do you mean by (?P<about>.+)|(?:what|was) (?P<about2>[^ ]+) (?:is|are|ist|sind)",
    r"what do(?:es)? (?P<about>.+?) (?:mean|stand for|refer to|signify)(?: exactly)?",
)
DEFINITIONS = (
    WHAT_IS,
    family(
        "definition",
        "defin meaning meant. bedeutung signif",
        r"(?:definition|bedeutung|significado) (?P<about>[^ ]+)"
        r"|(?P<about2>[^ ]+(?: [^ ]+)?) (?:definition|meaning|bedeutung|signification|significado)",
        r"(?:define|definition of|meaning of|the (?:definition|meaning) of|what is meant by)"
        r" (?P<about>.+)",
    ),
    family(
        "definition",
        "was. wer. bedeutung defin",
        r"(?:was|wer) (?:ist|sind|war|waren)(?: (?:eigentlich|denn|genau))*"
        r" (?P<about>(?:{the} )*(?:[^\s]+ ?){1,4}?)(?: (?:eigentlich|genau))?",
        r"was (?:bedeutet|heisst|heißt|meint)(?: (?:eigentlich|denn|genau))* (?P<about>.+)",
        r"was versteht man unter (?P<about>.+)|(?:die )?(?:definition|bedeutung) (?:von|des|der)"
        r" (?P<about2>.+)|definiere (?P<about3>.+)",
    ),
    family(
        "definition",
        "qu. que. qui. quien quem ca. cela. c. ce. veut. defin signif",
        r"(?:ca |cela )?veut dire quoi (?P<about>.+)|(?:a que se refiere|a que se refere)"
        r" (?P<about2>.+)",
        r"ce (?:que c['’]est que |qu['’]est |que signifie )(?P<about>.+)",
        r"(?:qu['’ ]est[- ]ce (?:que?(?!e? ?(?:j['’]|tu |on |nous |vous |ils? |elles? ))(?:"
        r" c['’]est(?: que)?)?|qu['’])|c['’ ]est quoi|que signifie"
        r"|que veut dire|qui (?:est|etait|sont))(?: au juste)? ?(?P<about>.+)",
        r"(?:la )?(?:definition|signification) (?:de|du|des|d['’]) ?(?P<about>.+)"
        r"|definis (?P<about2>.+)",
        r"(?:que|quien(?:es)?) (?:es|son|era|fue|eran|fueron)(?: exactamente)?"
        r" (?P<about>(?:{the} )*(?:[^\s]+ ?){1,4}?)",
        r"que (?:significa|quiere decir) (?P<about>.+)|(?:la )?(?:definicion|significado) (?:de"
        r"|del)"
        r" (?P<about2>.+)|define (?P<about3>.+)",
        r"(?:o )?(?:que|quem) (?:e|sao|foi|era|eram|foram)(?: exatamente)?"
        r" (?P<about>(?:{the} )*(?:[^\s]+ ?){1,4}?)",
        r"o que (?:significa|quer dizer) (?P<about>.+)|(?:a )?(?:definicao|significado) (?:de|do"
        r"|da)"
        r" (?P<about2>.+)|defina (?P<about3>.+)",
    ),
)
HOW_TOS = (
    family(
        "how_to",
        "how.",
        r"(?:{show} |explain |describe ){0,2}how (?:do|can|could|should|would|does"
        r"|might|must)"
        r" (?:i|we|you|one|someone) (?P<about>.+)",
        r"(?:{show} |explain |describe ){0,2}how to (?P<about>.+)",
    ),
    family(
        "how_to",
        "step instruc procedure procedimiento guide walk talk process way. recip rezept"
        " recett receta receita paso passo anleitung schritt etape mode.",
        r"(?:what|which) steps (?:do|should|must|can) (?:i|we|you|one) (?:take|follow|do|need)"
        r" (?:to|for|in order to) (?P<about>.+)",
        r"(?:what are |{show} |explain )?(?:{the} )*(?:steps|instructions|procedure|directions"
        r"|guide"
        r"|walkthrough) (?:to|for|on|of) (?P<about>.+)",
        r"(?:walk|guide|talk) me through (?P<about>.+)",
        r"what(?:['’]s| is) the (?:procedure|process|way|recipe) (?:for|to|of) (?P<about>.+)",
        r"(?:recipe|rezept|recette|receta|receita) (?:for|fur|de|du|d['’]|des|del|da|do)"
        r" ?(?P<about>.+)",
        r"(?:passo a passo|paso a paso) (?:para|de) (?P<about>.+)",
        r"(?:{show} |was sind |welches sind )?(?:{the} )*(?:anleitung(?: (?:zum|zur|zu|fur|um))*"
        r"|(?:schritte|schritt fur schritt)(?: (?:zum|zur|zu|fur|um))+)"
        r" (?P<about>.+)",
        r"(?:{show} |quelles? sont )?(?:{the} )*(?:etapes|instructions|procedure|mode d['’]emploi)"
        r" (?:pour|de|du)"
        r" (?P<about>.+)",
        r"(?:{show} |cuales son |quais sao )?(?:{the} )*(?:pasos|passos|instrucciones|instrucoes"
        r"|procedimiento) (?:para|de)"
        r" (?P<about>.+)",
    ),
    family(
        "how_to",
        "what. was. que. o.",
        r"(?:what do (?:i|we) (?:need|have) to do|what must i do|was muss (?:ich|man) (?:machen"
        r"|tun)"
        r"|que dois[- ]je faire|que faut[- ]il faire|que (?:tengo que|hay que|debo) hacer"
        r"|o que (?:preciso|devo|tenho que|tenho de|e preciso)(?: de)? fazer),?"
        r" (?:to|in order to|um|pour|para) (?P<about>.+)",
        needs="do. machen. tun. faire hacer fazer",
    ),
    family(
        "how_to",
        "wie. comment como.",
        r"(?:wie geht|wie gelingt) (?P<about>.+)|wie macht man (?P<about2>.+)",
        r"wie (?:kann|soll|konnte|muss|darf|sollte) (?:ich|man|wir) (?:am besten )?(?P<about>.+)",
        r"wie (?:macht|mache|baut|erstellt) (?:ich|man|wir) (?P<about>.+)",
        r"wie (?P<about>\w+(?:e|t|en) (?:ich|man|wir) .+)",
        r"comment (?:est[- ]ce (?:que|qu['’]) ?(?:je|on|tu|nous) ?|puis[- ]je |peut[- ]on |dois[-"
        r" ]je"
        r" |doit[- ]on )?(?:faire )?(?P<about>.+)",
        r"como (?:puedo |podemos |se puede |debo |hago para |posso |podemos |faco para |se |devo "
        r"|eu"
        r" )?(?:hacer |hago |hace |fazer |faco |faz )?(?P<about>.+)",
    ),
)
WHEN = family(
    "when",
    "when wehn wann quand cuando quando date day tag datum fecha data jour seit since depuis desde"
    " dia",
    r"(?:do you know |tell me )?when (?:was|is) the (?:last|first) time (?:that )?(?:(?:i"
    r"|we) )?(?P<about>.+)",
    r"(?:do you know |can you tell me |tell me )?(?:since )?when (?:did|do|does|have|has|had|was"
    r"|were|am"
    r"|is|are|will|habe|hat)(?: (?:i|we))?(?: (?:last|first))?(?: (?:write|note) (?:about"
    r"|down))? (?P<about>.+)",
    r"when (?P<about>(?:i|we) .+)|when['’]s (?P<about2>.+)",
    r"c['’]est quand (?P<about>.+)",
    r"(?:on |since )?(?:what|which) (?:day|date)(?: was it(?: when)?)?(?: (?:did|do|does|have|has"
    r"|had|was|were|is|are))?(?: (?:i|we))? (?P<about>.+)",
    r"(?:seit |bis )?(?:wann|wan)(?: (?:habe?n?|hat|war(?:en|st)?|bin|ist|sind"
    r"|wurden?))?(?: (?:ich|wir))?"
    r"(?: (?:zuletzt|zum letzten mal|das letzte mal))? (?P<about>.+?)(?: (?:habe?n?|hat))?",
    r"an welchem (?:tag|datum) (?P<about>.+)|(?:zu|seit) welchem datum (?P<about2>.+)",
    r"(?:depuis )?quand (?:est[- ]ce (?:que|qu['’]) ?)?(?:j['’]ai |ai[- ]je |a[- ]t[- ]on "
    r"|ont[- ]ils "
    r"|suis[- ]je )?(?P<about>.+?)(?: (?:pour )?la (?:derniere|premiere) fois)?",
    r"(?:a quelle date|quel jour) (?:est[- ]ce (?:que|qu['’]) ?)?(?P<about>.+)",
    r"(?:desde )?cuando (?:fue la ultima vez que )?(?P<about>.+?)(?: por (?:ultima|primera) vez)?",
    r"(?:en que (?:fecha|dia)|que dia) (?P<about>.+)",
    r"(?:desde )?quando (?:foi a ultima vez que )?(?:eu )?(?P<about>.+?)"
    r"(?: pela (?:ultima|primeira) vez)?",
    r"(?:em que (?:data|dia)|que dia) (?P<about>.+)",
)
