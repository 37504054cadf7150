"""Words that say that a statement is only possible, reported or planned, by language; written as in
`negations`.
"""

HEDGES = {
    "english": (
        "hopefully "
        "might may could would should must perhaps maybe possibly probably presumably allegedly "
        "supposedly reportedly apparently seemingly said_to believed_to thought_to supposed_to "
        "expected_to reported_to rumoured_to rumored_to claimed_to assumed_to known_to_have "
        "seem_to seems_to seemed_to appear_to appears_to appeared_to claim claims claimed allege "
        "alleges alleged pretend pretends pretended believe believes believed think thinks thought "
        "hope hopes hoped wish wishes wished fear fears feared guess guesses suspect suspects "
        "suspected assume assumes assumed imagine dreamt dreamed rumour rumor rumours plan_to "
        "plans_to planned_to want_to wants_to wanted_to try_to tries_to tried_to used_to about_to "
        "threatened_to going_to intends_to intended_to promised_to tend_to tends_to likely "
        "it_seems as_if as_though potentially once formerly"
    ),
    "german": (
        "hoffentlich "
        "könnte könnten dürfte dürften würde würden sollte sollten soll sollen müsste vielleicht "
        "womöglich möglicherweise eventuell wahrscheinlich vermutlich wohl angeblich vorgeblich "
        "scheinbar anscheinend scheint schien scheinen behauptet behauptete glaubt glaubte meint "
        "meinte hofft hoffte denkt dachte vermutet vermutete befürchtet fürchtet mutmaßlich "
        "versuchte versucht plant plante wollte wollten will tut_so als_ob gerüchteweise kann"
    ),
    "french": (
        "peut-être pourrait pourraient devrait devraient serait seraient aurait auraient "
        "probablement sans_doute prétendument soi-disant apparemment semble semblait semblent "
        "paraît paraissait prétend prétendait croit croyait pense pensait espère espérait craint "
        "suppose suppose-t-on censé censée voudrait tente_de tenta_de essaie_de essaya_de peut"
    ),
    "spanish": (
        "ojalá "
        "quizá quizás tal_vez podría podrían debería deberían habría sería serían acaso "
        "probablemente posiblemente supuestamente presuntamente aparentemente parece parecía "
        "afirma afirmó cree creía creen piensa espera teme supone dicen dice_que intenta intentó "
        "quería a_lo_mejor puede_que puede"
    ),
    "portuguese": (
        "oxalá tomara "
        "talvez poderia poderiam deveria deveriam seria seriam teria provavelmente possivelmente "
        "supostamente alegadamente aparentemente parece parecia afirma afirmou acredita acreditava "
        "acha achava pensa espera teme supõe dizem tenta tentou queria quiçá pode"
    ),
    "italian": (
        "forse potrebbe potrebbero dovrebbe dovrebbero sarebbe avrebbe probabilmente possibilmente "
        "presumibilmente apparentemente sembra sembrava pare afferma crede credeva pensa spera teme"
    ),
    "dutch": (
        "misschien zou zouden wellicht mogelijk waarschijnlijk vermoedelijk lijkt leek beweert "
        "denkt gelooft hoopt"
    ),
    "swedish": (
        "kanske skulle möjligen troligen förmodligen tydligen verkar påstår tror hoppas lär borde"
    ),
    "polish": "może mógłby mogłaby chyba prawdopodobnie podobno rzekomo wydaje_się twierdzi sądzi",
    "czech": "možná asi prý údajně pravděpodobně snad zdá_se tvrdí",
    "russian": (
        "может_быть возможно вероятно наверное пожалуй якобы будто кажется по-видимому похоже "
        "утверждает утверждал утверждала считает считал думает думал надеется полагает бы мог_бы "
        "могла_бы должен_был говорят по_слухам пытался пыталась предположительно может"
    ),
    "greek": (
        "ίσως μπορεί πιθανόν πιθανώς μάλλον δήθεν φαίνεται ισχυρίζεται πιστεύει νομίζει θα_μπορούσε"
    ),
    "arabic": (
        "ربما قد لعل يمكن يحتمل من_المحتمل من_الممكن يبدو يزعم زعم يقال يدعي ادعى يعتقد يظن ظن "
        "يأمل يفترض كاد يكاد حاول حاولت كأن"
    ),
    "hebrew": "אולי ייתכן כנראה לכאורה עשוי עשויה עלול עלולה נראה טוען טוענת חושב חושבת מאמין",
    "turkish": "belki muhtemelen galiba sözde herhalde",
    "indonesian": "mungkin barangkali konon sepertinya",
    "korean": "아마 혹시",
    "hindi": "शायद संभवतः",
}
"""Few words before a quotation."""
UNSPACED_HEDGES = (
    "也许 也許 可能 或许 或許 大概 恐怕 据说 據說 似乎 好像 据称 據稱 声称 聲稱 认为 認為 以为 "
    "以為 "
    "希望 假装 假裝 本该 本來 打算 企图 企圖 試圖 试图 应该 應該 たぶん おそらく もしかすると "
)

HEDGES_BEHIND = {
    "english": (
        "allegedly supposedly reportedly apparently perhaps maybe possibly probably presumably "
        "it_seems it_is_said they_say so_they_say he_claims she_claims he_claimed she_claimed "
        "they_claim they_claimed in_theory i_think i_guess i_hope"
    ),
    "german": (
        "angeblich vielleicht möglicherweise vermutlich wahrscheinlich womöglich scheint_es "
        "heißt_es"
    ),
    "french": "paraît-il dit-on peut-être soi-disant apparemment semble-t-il prétend-il",
    "spanish": "supuestamente quizás quizá dicen según_dicen al_parecer probablemente",
    "portuguese": "supostamente talvez dizem ao_que_parece provavelmente",
    "russian": "якобы возможно вероятно говорят кажется по_слухам",
    "arabic": "ربما كما_يقال على_ما_يبدو كما_يزعم",
}
"""Right behind a quotation."""
UNSPACED_HEDGES_BEHIND = (
    "かもしれ でしょう だろう らしい そうだ と言われ とされ と思 ようだ はず つもり と主張 "
    "的样子 吧"
)
