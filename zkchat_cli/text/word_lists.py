"""Words that say little about a subject, by language and folded: stopwords, which are in any
sentence, and fillers, which are in many questions.
"""

from zkchat_cli.text.patterns import lazy_pattern

ENGLISH = "english"
GERMAN = "german"
FRENCH = "french"
SPANISH = "spanish"
PORTUGUESE = "portuguese"
RUSSIAN = "russian"
REQUEST_LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE)
"""Languages in which requests are understood."""

FREQUENT_WORDS = {
    ENGLISH: (
        "the and of to in is that for with it you this are on as be have not from what how when "
        "which my do does"
    ),
    GERMAN: (
        "der die das und ist nicht ein eine einen ich zu den mit auf fur von im dem wie sich des "
        "auch werden wenn was kann wird"
    ),
    FRENCH: (
        "le la les des et est un une pour dans que qui je pas sur avec ce du au vous sont par "
        "plus comment quand mes"
    ),
    SPANISH: (
        "el la los las de y que en es un una por con para no se como del al lo cuando son mis"
    ),
    "italian": (
        "il la di che un una per non con del della sono le gli come si da nel alla quando anche"
    ),
    PORTUGUESE: (
        "o os as de que do da em um uma para com nao se por no na dos das como ao quando mais foi "
        "pelo pela"
    ),
    "dutch": "de het een en van ik te dat die is niet op aan met voor zijn er om hoe wordt naar",
    "swedish": "och att det som en pa ar av for med den till inte om ett jag har kan hur",
    "danish": "og at det som en pa er af for med den til ikke om et jeg har kan hvordan",
    "norwegian": "og at det som en pa er av for med den til ikke om et jeg har kan hvordan",
    "finnish": "ja on ei se etta oli ovat tai kun myos mutta miten mika voi",
    "polish": "na nie sie ze to do jest jak po dla czy przez od oraz co",
    "czech": "se na je ze to do pro jsem jak nebo jako ale po tak co",
    RUSSIAN: "и в не на что с по это как для от за из к но или когда",
    "hungarian": "az es hogy nem egy is van meg ez ha vagy mint hogyan",
    "turkish": "ve bir bu icin ile de da ne nasil daha olarak gibi var",
}
"""The words by which a language is recognized; they are stopwords, too. Where two languages share
most of them, the first of equals is taken.
"""

OTHER_STOPWORDS = {
    ENGLISH: (
        "a about after all also am an any aren't at been before being both but by can can't could "
        "did doesn't doing don't down each few further had has having he her here hers him his i "
        "if into isn't it's its itself just let me more most no nor now off once only or other "
        "our out over own please same see she should so some such tell than their them then there "
        "these they those through too under until up us very was we were what's where while who "
        "whom why will would your"
    ),
    GERMAN: (
        "aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes "
        "aus bei beim bin bis bist da damit dann darf dass dazu dein deine deinen deiner denn "
        "diese diesem diesen dieser dieses dich dir doch dort du durch eben einem einer eines er "
        "es etwas euch euer eure gegen hab habe haben hast hat hatte hatten hier hinter ihm ihn "
        "ihnen ihr ihre ihrem ihren ihrer in ins ja jede jedem jeden jeder jedes kannst kein "
        "keine keinem keinen keiner konnen konnte man manche mein meine meinem meinen meiner "
        "meines mich mir muss mussen nach nichts noch nun nur ob oder ohne schon sehr sein seine "
        "seinem seinen seiner sie sind so soll sollen sollte uber um uns unser unsere unserem "
        "unseren unserer unter vom vor war waren warum weil welche welchem welchen welcher "
        "welches wem wen wer werde wieder wieso will wir wo wollen worden wurde wurden zum zur "
        "zwischen wann woher wieviel wohin wozu"
    ),
    FRENCH: (
        "a afin ai as au aussi aux avaient avais avait avant avec avez avoir avons c ca car ceci "
        "cela celle celui ces cet cette ceux chez combien comme d dans de deja depuis donc dont "
        "elle elles en encore entre es est-ce etaient etais etait ete etes etre eu eux ici il ils "
        "j jusqu l lequel leur leurs lorsque lui m ma mais me meme moi mon n ne ni nos notre nous "
        "on ont ou par parce peu peut peux pourquoi puis qu quel quelle quelles quelque quelques "
        "quels quoi s sa sans se sera ses si soi son sous suis t ta te tes toi ton tous tout "
        "toute toutes tres tu vos votre y"
    ),
    SPANISH: (
        "a al algo ante aqui asi aun cada como cual cuales cuanto cuantos de desde donde e ella "
        "ellas ellos entre era eran esa esas ese eso esos esta estaba estan estar estas este esto "
        "estos estoy fue ha habia han hasta hay he la le les me mi muy nada ni nos nosotros "
        "nuestra nuestro o os otra otro pero por porque puede pueden puedo pues quien quienes sea "
        "ser si sin sobre solo soy su sus tambien tan te tener tengo ti tiene tienen tu tus u "
        "unas uno unos usted vosotros ya yo"
    ),
    PORTUGUESE: (
        "a ainda alem algo alguem algum alguma algumas alguns ante antes aos apenas apos aquela "
        "aquelas aquele aqueles aqui aquilo as ate cada cade comigo contra cujo dela delas dele "
        "deles depois desde dessa desse desta deste dum duma e ela elas ele eles entre era eram "
        "essa essas esse esses esta estao estar estas estava estavam este estes estou eu fica "
        "foram ha isso isto ja la lhe lhes mas me mesma mesmo meu meus mim minha minhas muito "
        "nada nas nem nenhum nenhuma nessa nesse nesta neste nos nossa nossas nosso nossos num "
        "numa nunca onde ou outra outras outro outros pelas pelos per pode podem podemos pois "
        "porque posso pra pro quais qual qualquer quanta quantas quanto quantos quem sao seja sem "
        "sempre sendo ser sera seu seus sim so sob sobre sou sua suas tal tambem tao tem temos "
        "tenho ter teu teus teve tinha toda todas todo todos tu tua tuas tudo ultimo umas uns vai "
        "vamos voce voces vos vou"
    ),
}
"""The stopwords besides the frequent words."""

FILLERS = {
    ENGLISH: (
        "able actually allow another anything ask best better bit bring call cause change come "
        "continue correct detail different do done easy elaborate else ever every exactly example "
        "explain find found further general get give go good happen help idea information involve "
        "keep kind know like list long look lot made main make many matter mean much need note "
        "one order possible provide put question quick really reason right say see set show "
        "simple someone something sort start stuff take talk tell thing think thought time try "
        "turn type understand us use usually want way well whether without wonder work write"
    ),
    GERMAN: (
        "art bedeuten beispiel bekommen benutzen besser beste bitte brauche ding einfach erklare "
        "erzahl fast finde frage geben gehe geht gemacht genau geschrieben gesagt gibt grund gut "
        "helfen hilfe hilft idee information kennen lange lassen lasst liste mache macht man "
        "meinen mochte moglich nehmen notieren notiert notiz nutzen oft sache sagen sagt schreibe "
        "schrieb sehen soviel stehen steht thema tue tun tut verstehen verwenden viel weiss "
        "weisst wichtig wissen zeig"
    ),
    FRENCH: (
        "aide aider besoin bien chose choses dire dis dit dites donne donner ecrire ecris ecrit "
        "exemple explique expliquer faire fais fait faut idee liste maniere marche meilleur "
        "mettre montre montrer note notes parle parler possible pouvoir question raison savoir "
        "sais signifie sorte sujet trouve trouver type utilise utiliser veut veux voir vois"
    ),
    SPANISH: (
        "ayuda ayudar bien buscar cosa cosas dar decir dice digo ejemplo encontrar escribi "
        "escribir escrito explica explicar forma funciona hablar hace hacer haces hago hecho idea "
        "lista manera mejor mostrar muestra necesito nota notas poder poner pongo posible "
        "pregunta quiero razon saber sirve significa tema tipo usar uso utilizar ver"
    ),
    PORTUGUESE: (
        "achar acontecer ajuda ajudar anotacao anotacoes anotado anotei assunto bem coisa "
        "coisas conseguir dar deve dever devo dizer diz durar escrever escrevi escrito exemplo "
        "explica explicar explique falar fazer faz faco feito ficar fiz forma funciona "
        "funcionar ideia jeito lista listar maneira melhor mostra mostrar mostre nota notas "
        "pergunta possivel precisar preciso quero querer razao saber sabe sei serve servir "
        "significa significar tema tipo usar uso utilizar ver"
    ),
}
"""One word for each stem."""

FUNCTION_CHARACTERS = frozenset(
    "的了吗呢吧啊么什怎哪这那是有没不在和就都还也要给被把跟与或及其之于对从向到为以而且但因所如果会能可我你他她它们个些谁几多少样点里上下"
    "时候再很太更最着过得地自己一"
)
"""Chinese characters that are common in any question."""
CJK_QUESTION_WORDS = lazy_pattern(
    "什么是|什麼是|是什么意思|是什麼意思|是什么|是什麼|为什么|為什麼|什么|什麼|怎么样|怎麼樣|怎样|怎樣|怎么|怎麼|如何|哪些|哪里|哪裡|哪个|哪個|哪|多少|"
    "是否|能不能|可不可以|可以|有没有|有沒有|请问|請問|需要|应该|應該|关于|關於|之间|之間|还有|還有|吗|嗎|呢|吧|的|了|是|它们|它們|它|说|說|"
    "とは|ですか|なに|何|どう|どこ|なぜ|いつ|무엇|어떻게|왜"
)
"""Chinese, Japanese and Korean question words and particles: without spaces they would stick to the
words of the question.
"""
