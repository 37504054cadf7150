"""Words that say the opposite of one another, in English, German, French, Spanish and Portuguese,
in this order.

Words are written in full or as one of their forms, folded: they are compared by their stems. Forms
that change their vowel are listed. `_` joins the words of a phrase, and ` / ` is between the sides.
"""

from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH

OPPOSITE_LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE)
COMPARED = {
    "amount": (
        "more / less fewer",
        "mehr / weniger",
        "plus davantage / moins",
        "mas / menos",
        "mais / menos",
    ),
    "size": (
        "big bigger biggest large larger largest great greater / small smaller smallest little",
        "gross grosser grosste / klein kleiner kleinste",
        "grand grande / petit petite",
        "grande mayor / pequeno pequena menor",
        "grande maior / pequeno pequena menor",
    ),
    "height": (
        "high higher highest tall taller / low lower lowest",
        "hoch hoher hohe hochste / niedrig niedriger tief tiefer",
        "haut haute eleve / bas basse",
        "alto alta / bajo baja",
        "alto alta / baixo baixa",
    ),
    "warmth": (
        "hot hotter warm warmer / cold colder cool cooler",
        "heiss heisser warm warmer / kalt kalter kuhl kuhler",
        "chaud chaude / froid froide frais",
        "caliente calido / frio fria",
        "quente / frio fria",
    ),
    "noise": (
        "loud louder noisy noisier / quiet quieter silent",
        "laut lauter / leise leiser ruhig ruhiger",
        "bruyant bruyante / silencieux silencieuse",
        "ruidoso ruidosa / silencioso silenciosa",
        "barulhento barulhenta / silencioso silenciosa",
    ),
    "speed": (
        "fast faster quick quicker / slow slower",
        "schnell schneller / langsam langsamer",
        "rapide vite / lent lente lentement",
        "rapido rapida / lento lenta",
        "rapido rapida / lento lenta devagar",
    ),
    "weight": (
        "heavy heavier / lighter",
        "schwer schwerer / leicht leichter",
        "lourd lourde / leger legere",
        "pesado pesada / ligero ligera liviano",
        "pesado pesada / leve",
    ),
    "length": (
        "long longer / short shorter",
        "lang langer / kurz kurzer",
        "long longue / court courte",
        "largo larga / corto corta",
        "longo longa / curto curta",
    ),
    "strength": (
        "strong stronger / weak weaker",
        "stark starker / schwach schwacher",
        "fort forte / faible",
        "fuerte / debil",
        "forte / fraco fraca",
    ),
    "quality": (
        "good better best / bad worse worst",
        "gut besser beste / schlecht schlechter",
        "bon bonne meilleur mieux / mauvais mauvaise pire",
        "bueno buena mejor / malo mala peor",
        "bom boa melhor / mau ma pior ruim",
    ),
    "price": (
        "expensive dearer / cheap cheaper",
        "teuer teurer / billig billiger gunstig gunstiger",
        "cher chere / economique",
        "caro cara / barato barata",
        "caro cara / barato barata",
    ),
    "distance": (
        "far farther further / near nearer closer",
        "fern weit weiter / nah naher",
        "loin / proche",
        "lejos / cercano",
        "longe / perto",
    ),
    "width": (
        "wide wider / narrow",
        "breit breiter / schmal",
        "large / etroit",
        "ancho / estrecho",
        "largo / estreito",
    ),
    "thickness": (
        "thick thicker / thin thinner",
        "dick dicker / dunn dunner",
        "epais / mince",
        "grueso / delgado",
        "grosso / fino",
    ),
    "ease": (
        "easy easier / difficult harder",
        "einfach einfacher / schwierig schwieriger",
        "facile / difficile",
        "facil / dificil",
        "facil / dificil",
    ),
    "age": ("older elder oldest / younger youngest newer newest", "", "", "", ""),
    "lateness": (
        "late later / early earlier",
        "spat spater / fruh fruher",
        "tard / tot",
        "tarde / temprano",
        "tarde / cedo",
    ),
}
ORDER = {
    "order": (
        "before prior / after following",
        "vor bevor ehe vorher / nach nachdem nachher",
        "avant / apres",
        "antes / despues tras",
        "antes / depois apos",
    ),
    "replacement": ("instead", "statt anstatt", "lieu plutot", "lugar vez", "lugar vez"),
    "above": (
        "above / below beneath",
        "oberhalb / unterhalb",
        "dessus / dessous",
        "encima / debajo",
        "acima / abaixo",
    ),
}
CONVERSE = {
    "trade": (
        "buy bought purchase acquire / sell sold",
        "kaufen kaufte gekauft erwerben erwarb erworben / verkaufen verkaufte verkauft verkauf",
        "acheter achete achat / vendre vendu vend vendit",
        "comprar compro compra / vender vendio vende vendido",
        "comprar comprou compra / vender vendeu vende vendido",
    ),
    "transfer": (
        "give gave given hand send sent / receive get got obtain",
        "geben gab gegeben gibt schenken schickte sandte / bekommen bekam erhalten erhielt erhalt",
        "donner donne envoyer / recevoir recu recoit",
        "dar dio da dado enviar / recibir recibio recibe",
        "dar deu da dado enviar / receber recebeu recebe",
    ),
    "loan": (
        "lend lent / borrow borrowed",
        "verleihen verlieh verliehen / ausleihen auslieh ausgeliehen",
        "preter prete / emprunter emprunte",
        "",
        "",
    ),
    "lesson": (
        "teach taught / learn learned learnt",
        "lehren lehrte unterrichtete unterrichten / lernen lernte",
        "enseigner enseigne / apprendre appris apprend",
        "ensenar enseno / aprender aprendio",
        "ensinar ensinou / aprender aprendeu",
    ),
    "victory": (
        "win won beat beaten defeat / lose lost loss",
        "gewinnen gewann gewonnen siegen schlug geschlagen / verlieren verlor verloren verlust",
        "gagner gagne battre battu / perdre perdu",
        "ganar gano vencer vencio / perder perdio perdido",
        "ganhar ganhou vencer venceu / perder perdeu perdido",
    ),
}
PLAIN = {
    "change": (
        "rise rose risen increase grow grew grown climb soar went_up go_up goes_up gone_up "
        "up_from up_by / fall fell fallen drop decrease decline sink sank sunk shrink shrank "
        "shrunk reduce went_down go_down goes_down gone_down down_from down_by",
        "steigen stieg stiegen gestiegen wachsen wuchs gewachsen zunehmen zugenommen erhohen "
        "anstieg / sinken sank sanken gesunken fallen fiel gefallen schrumpfen abnehmen "
        "abgenommen verringern reduzieren senken ruckgang",
        "augmenter augmente monter monte croitre cru grimper hausse / baisser baisse diminuer "
        "diminue chuter reculer reduire reduit",
        "subir subio aumentar aumento crecer crecio crecieron incrementar / bajar bajo disminuir "
        "disminuyo disminuyeron caer cayo reducir descender descendio",
        "subir subiu aumentar aumentou crescer cresceu cresceram / descer desceu baixar baixou "
        "cair caiu diminuir diminuiu diminuiram reduzir",
    ),
    "opening": (
        "open opens opened / close closed closes shut",
        "offnen geoffnet offen offnet / schliessen geschlossen schliesst schloss",
        "ouvrir ouvert ouvre / fermer ferme",
        "abrir abierto abre abierta / cerrar cerrado cierra",
        "abrir aberto abre aberta / fechar fechado fecha",
    ),
    "start": (
        "start begin began begun begins / end ends ended finish stop",
        "beginnen beginnt begann begonnen anfangen starten / enden endet endete aufhoren",
        "commencer commence debuter debute / finir finit terminer termine",
        "empezar empieza empezo comenzar comienza iniciar / terminar termina termino acabar",
        "comecar comeca comecou iniciar / terminar termina terminou acabar",
    ),
    "consent": (
        "accept accepted approve approved adopt / reject rejected refuse refused",
        "annehmen angenommen akzeptieren genehmigen genehmigt / ablehnen abgelehnt lehnte "
        "verweigern",
        "accepter accepte approuver adopter / refuser refuse rejeter rejete",
        "aceptar aceptado aprobar aprobado / rechazar rechazado",
        "aceitar aceite aceitado aprovar aprovado / recusar recusado rejeitar rejeitado",
    ),
    "permission": (
        "allow allowed permit permitted / forbid forbidden ban banned prohibit prohibited",
        "erlauben erlaubt gestattet zugelassen / verbieten verboten untersagt",
        "permettre permis autoriser autorise / interdire interdit",
        "permitir permitido autorizado / prohibir prohibido",
        "permitir permitido autorizado / proibir proibido",
    ),
    "arrival": (
        "arrive arrived come came / depart departed",
        "ankommen angekommen ankam ankunft / abfahren abgefahren abreisen abfahrt",
        "arriver arrive / partir part parti",
        "llegar llega llego / partir parte partio",
        "chegar chega chegou / partir parte partiu",
    ),
    "entry": (
        "enter entered / exit exited",
        "betreten eintreten einziehen / ausziehen austreten",
        "entrer entre / sortir sort sorti",
        "entrar entra entro / salir sale salio",
        "entrar entra entrou / sair sai saiu",
    ),
    "place": (
        "inside indoors / outside outdoors",
        "innen drinnen / aussen draussen",
        "dedans interieur / dehors exterieur",
        "dentro / fuera",
        "dentro / fora",
    ),
    "side": (
        "left / right",
        "links linke linken / rechts rechte rechten",
        "gauche / droite",
        "izquierda / derecha",
        "esquerda / direita",
    ),
    "truth": (
        "true / false",
        "wahr / falsch",
        "vrai / faux",
        "verdadero / falso",
        "verdadeiro / falso",
    ),
    "addition": (
        "add added / remove removed delete deleted",
        "hinzufugen hinzugefugt / entfernen entfernt geloscht",
        "ajouter ajoute / enlever enleve retirer supprimer",
        "anadir anadio agregar / quitar quito eliminar",
        "acrescentar adicionar / remover retirar",
    ),
    "switch": (
        "enable enabled activate / disable disabled deactivate",
        "aktivieren aktiviert einschalten / deaktivieren deaktiviert ausschalten",
        "activer active allumer / desactiver desactive eteindre",
        "activar encender / desactivar apagar",
        "ativar ligar / desativar desligar",
    ),
    "danger": (
        "safe / dangerous unsafe",
        "sicher ungefahrlich / gefahrlich unsicher",
        "sur sure / dangereux dangereuse",
        "seguro segura / peligroso peligrosa",
        "seguro segura / perigoso perigosa",
    ),
    "success": (
        "succeed success successful / fail failed failure",
        "gelingen gelang gelungen erfolgreich / scheitern scheiterte gescheitert misslang",
        "reussir reussi / echouer echoue",
        "exito exitoso / fracasar fracaso",
        "sucesso / fracassar fracasso falhar falhou",
    ),
    "filling": (
        "fill filled full / empty emptied drain",
        "fullen gefullt voll / leeren geleert leer",
        "remplir rempli plein / vider vide",
        "llenar lleno / vaciar vacio",
        "encher cheio / esvaziar vazio",
    ),
    "life": (
        "born / die died dead",
        "geboren / starb gestorben sterben",
        "ne nee naquit / mort morte deces decede",
        "nacio nacido nacida / murio muerto muerta",
        "nasceu nascido nascida / morreu morto morta",
    ),
    "staff": (
        "hire hired / fire fired dismiss dismissed",
        "eingestellt / entlassen entliess",
        "embaucher embauche / licencier licencie",
        "contratar contrato contratado / despedir despidio despedido",
        "contratar contratou contratado / despedir despediu demitir",
    ),
    "moisture": ("wet / dry", "nass / trocken", "mouille / sec", "mojado / seco", "molhado / seco"),
    "wealth": (
        "rich / poor",
        "reich / arm",
        "riche / pauvre",
        "rico rica / pobre",
        "rico rica / pobre",
    ),
    "sameness": (
        "same / different differ",
        "gleich gleiche gleichen / verschieden anders",
        "meme / different differente",
        "mismo misma / diferente distinto",
        "mesmo mesma / diferente",
    ),
    "liking": (
        "like liked love loved / dislike disliked hate hated",
        "mogen mochte lieben liebte / hassen hasste",
        "aimer aime adorer / detester deteste hair",
        "gustar gusta gusto amar / odiar odia",
        "gostar gosta gostou amar / odiar odeia",
    ),
    "memory": (
        "remember remembered / forget forgot forgotten",
        "erinnern erinnerte / vergessen vergass",
        "souvenir rappeler / oublier oublie",
        "recordar recordo / olvidar olvido",
        "lembrar lembrou / esquecer esqueceu",
    ),
    "inclusion": (
        "include included / exclude excluded",
        "einschliesslich / ausgeschlossen ausschliesslich",
        "inclure inclus / exclure exclu",
        "incluir incluye / excluir excluye",
        "incluir inclui / excluir exclui",
    ),
    "limit": (
        "maximum / minimum",
        "maximal maximum / minimal minimum",
        "maximum / minimum",
        "maximo / minimo",
        "maximo / minimo",
    ),
    "majority": (
        "majority / minority",
        "mehrheit / minderheit",
        "majorite / minorite",
        "mayoria / minoria",
        " / minoria",
    ),
}
