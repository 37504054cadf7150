"""Words that negate what follows or precedes them, by language.

Words are separated by spaces; `_` is a space within one, and `*` any letters. Languages that are
written without spaces have theirs in tables of their own.
"""

NEGATIONS = {
    "english": (
        "not never no none nobody nothing nowhere neither nor without cannot cant dont doesnt "
        "didnt "
        "isnt arent wasnt werent wont hardly barely scarcely rarely seldom false falsely wrongly "
        "untrue wrong myth lie fake deny denies denied denying doubt doubts doubted doubtful "
        "unlikely impossible fail_to fails_to failed_to failing_to refuse_to refuses_to refused_to "
        "refusing_to instead_of rather_than lack lacks lacked lacking far_from anything_but "
        "no_longer by_no_means on_no_account under_no_circumstances forbidden prohibited banned "
        "forbids forbid forbade prohibits prohibit ban bans "
        "avoid avoids avoided prevent prevents prevented stop stops stopped "
        "stopping cease ceases ceased quit quits forget_to forgot_to forgets_to unable "
        "disproved disproves refuted refutes rejected rejects contrary_to absence_of"
    ),
    "german": (
        "nicht nie niemals kein keine keinen keiner keinem keines nichts niemand niemandem "
        "niemanden "
        "nirgends nirgendwo ohne weder noch_nie kaum selten falsch unwahr statt anstatt keineswegs "
        "keinesfalls mitnichten unmöglich verboten bestreitet bestritt leugnet leugnete bezweifelt "
        "bezweifelte vermeide vermeiden verhindert verhinderte hörte_auf hört_auf vergaß vergisst "
        "weigert_sich weigerte_sich fast_nie nimmer mangels"
    ),
    "french": (
        "ne n' pas jamais sans aucun aucune rien personne_ne nulle nul guère ni faux fausse nie "
        "nia "
        "refuse_de refusa_de refusé_de cesse_de cessa_de cessé_de arrête_de arrêta_de arrêté_de "
        "évite évitez éviter interdit interdite impossible au_lieu_de plutôt_que empêche empêcha "
        "doute douta loin_de défense_de"
    ),
    "spanish": (
        "no nunca jamás ningún ninguno ninguna nada nadie ni tampoco sin falso falsa niega negó "
        "apenas imposible prohibido prohibida evita evite evitar dejó_de deja_de dejaron_de "
        "en_vez_de en_lugar_de impide impidió duda dudó se_negó_a lejos_de"
    ),
    "portuguese": (
        "não nunca jamais nenhum nenhuma nada ninguém nem sem tampouco falso falsa nega negou "
        "impossível proibido proibida evite evita evitar deixou_de deixa_de parou_de em_vez_de "
        "ao_invés_de impede impediu duvida duvidou recusou-se_a"
    ),
    "italian": (
        "non mai nessun nessuno nessuna niente nulla né senza falso falsa nega negò impossibile "
        "vietato vietata smise_di smette_di invece_di evita evitare rifiuta_di rifiutò_di"
    ),
    "dutch": (
        "niet nooit geen niets niemand nergens zonder noch nauwelijks onwaar onmogelijk verboden "
        "weigert weigerde ontkent ontkende stopte_met"
    ),
    "swedish": "inte aldrig ingen inget inga ej icke ingenting varken knappast omöjligt slutade",
    "danish": "ikke aldrig ingen intet hverken uden næppe umuligt",
    "norwegian": "ikke aldri ingen ingenting verken uten neppe umulig",
    "finnish": "ei eivät emme ette älä älkää koskaan ilman tuskin",
    "icelandic": "ekki aldrei enginn engin án",
    "polish": "nie nigdy bez żaden żadna żadne żadnych nikt nic ani niemożliwe fałsz zamiast",
    "czech": (
        "ne není nejsou nebyl nebyla nebylo nikdy nikdo nic bez žádný žádná žádné nelze nemá "
        "nemůže "
        "nesmí nesmíte nemohl neměl nebude nejde netřeba"
    ),
    "russian": (
        "не нет ни никогда никто ничего ничто никакой никакая никакие нигде без вряд_ли нельзя "
        "невозможно отрицает отрицал отрицала едва неверно неправда ложь перестал перестала "
        "перестали вместо отказался отказалась запрещено запрещается избегайте"
    ),
    "ukrainian": "не немає ні ніколи ніхто нічого без неможливо заборонено замість",
    "bulgarian": "не няма нито никога никой нищо без невъзможно",
    "greek": (
        "δεν δε μη μην ποτέ κανείς κανένας καμία κανένα τίποτα χωρίς ούτε όχι αδύνατο απαγορεύεται"
    ),
    "turkish": "değil yok hiç asla hiçbir olmadan olmayan yasak",
    "arabic": (
        "لا لم لن ليس ليست ليسوا لست غير عدم بدون دون بلا ولا ولم ولن وليس فلا فلم فلن ألا أبدا "
        "مستحيل ممنوع يمنع نفى ينفي كلا ما_كان ما_زال_لا لما"
    ),
    "persian": "نه نیست نیستند نبود هیچ بدون هرگز نباید",
    "hebrew": "לא ולא שלא אין ואין שאין בלי ללא אינו אינה אינם אינן אל אף מעולם לעולם אסור",
    "hungarian": "nem ne sem nincs nincsenek soha senki semmi nélkül tilos",
    "romanian": "nu niciodată nimeni nimic fără niciun nicio imposibil",
    "catalan": "no mai cap gens sense ningú res tampoc",
    "vietnamese": "không chưa chẳng đừng chớ",
    "indonesian": "tidak tak bukan jangan belum tanpa",
    "hindi": "नहीं न मत बिना नही",
    "korean": "안 못 아니 절대 결코",
}
"""Before what they negate, anywhere in its clause."""

UNSPACED_NEGATIONS = (
    "不 没 沒 未 無 无 非 别 別 勿 莫 毋 甭 难以 難以 几乎 幾乎 从不 從不 并不 並不 绝不 絕不 不是 "
    "禁止 避免 防止 否认 否認 拒绝 拒絕 停止 缺乏 而非 ไม่ မ"
)
"""In Chinese, before what they negate: in its clause, apart from the words below."""

UNSPACED_NO_NEGATIONS = (
    "不但 不仅 不僅 不只 不光 不同 不断 不斷 不少 不久 不管 不论 不論 不过 不過 不错 不錯 不必说 "
    "无论 無論 无线 無線 无数 無數 未来 未來 非常 别人 別人 别的 別的 区别 區別 特别 特別 个别 "
    "個別 "
    "告别 告別 送别 离别 離別 类别 類別 级别 級別 性别 性別 分别 分別 差不多 不得不 了不起 "
    "对不起 無料 未満 無事 非洲 并非不 "
    "除非 淹没 沒收 没收 沉没 沉沒"
)

NEGATIONS_BEHIND = {
    "german": "nicht kein keine keinen keiner keinem keines",
    "dutch": "niet geen",
    "turkish": "değil değildir yok yoktur",
    "hindi": "नहीं",
    "korean": "않* 없* 아니* 못*",
}
"""Behind what they negate, anywhere in its clause."""

JAPANESE_ENDINGS = ("ず", "ぬ", "まい")
"""Endings of a negated verb at the end of a clause."""
UNSPACED_NEGATIONS_BEHIND = (
    "ない ません なかった なく ずに ざる 無い 禁止 いけません いけない "
    "わけではな "
    "はずがな やめ 停止 않 없"
)
"""In Japanese, at the end of a clause."""

CORRELATIVES = (
    "kein_zweifel no_hay_duda nul_doute aucun_doute não_há_dúvida "
    "not_only not_just not_merely not_least nicht_nur non_seulement no_solo no_sólo não_só "
    "não_apenas non_solo niet_alleen inte_bara не_только לא_רק ليس_فقط όχι_μόνο no_matter no_doubt "
    "no_wonder nothing_but sans_doute sin_duda sem_dúvida ohne_zweifel no_problem "
    "no_obstante zweifellos без_сомнения"
)
"""Words that look like a negation and are none."""

NOT_WORDS = (
    "not never nicht nie niemals pas jamais nunca jamás não non mai niet nooit не никогда inte "
    "aldrig ikke nie nigdy не_для δεν ποτέ ليس لا לא değil"
)
"""Adverbs of negation, which except something behind a comma or "but"."""
NE_PARTNERS = "pas plus jamais que qu' rien guère point personne aucun aucune ni"
"""What completes "ne" in French."""
