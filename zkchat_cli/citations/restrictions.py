"""Words that restrict a statement to some cases, by language; written as in `negations`."""

CONDITIONS = {
    "english": (
        "if unless except provided providing as_long_as so_long_as only_if in_case whether "
        "not_true_that false_that assuming supposing on_condition_that other_than apart_from "
        "excluding unless_and_until in_theory"
    ),
    "german": (
        "wenn falls sofern soweit ausser außer es_sei_denn vorausgesetzt solange ob abgesehen "
        "ausgenommen nur_wenn theoretisch"
    ),
    "french": (
        "si s'il s'ils sauf à_moins excepté pourvu à_condition tant_que hormis est-ce_que "
        "en_supposant hors"
    ),
    "spanish": (
        "si salvo excepto a_menos siempre_que siempre_y_cuando con_tal_de mientras_no a_no_ser "
        "en_caso_de"
    ),
    "portuguese": (
        "salvo exceto excepto a_menos desde_que contanto_que caso a_não_ser só_se somente_se"
    ),
    "italian": "qualora purché salvo tranne eccetto a_meno a_condizione",
    "dutch": "indien tenzij mits behalve als_het zolang",
    "swedish": "om såvida förutsatt utom",
    "danish": "hvis medmindre undtagen",
    "norwegian": "hvis dersom med_mindre unntatt",
    "polish": "jeśli jeżeli chyba_że pod_warunkiem oprócz o_ile",
    "czech": "pokud jestli jestliže ledaže kromě",
    "russian": "если кроме при_условии в_случае лишь_если ли разве_что пока_не",
    "ukrainian": "якщо крім за_умови хіба_що",
    "greek": "αν εάν εκτός εφόσον μόνο_αν υπό_τον_όρο",
    "turkish": "eğer ancak hariç dışında",
    "arabic": "إذا لو إن_كان إلا باستثناء ما_لم ما_دام بشرط شريطة طالما هل سوى عدا",
    "hebrew": "אם אלא למעט חוץ בתנאי כל_עוד האם",
    "hungarian": "ha kivéve hacsak feltéve",
    "romanian": "dacă doar_dacă cu_excepția",
    "hindi": "अगर यदि सिवाय",
    "indonesian": "jika kalau kecuali asalkan",
    "vietnamese": "nếu trừ_khi miễn_là",
}
UNSPACED_CONDITIONS = (
    "如果 若 除非 除了 只要 只有 假如 要是 倘若 是否 吗 嗎 前提 もし 場合 限り なら れば たら 条件 "
    "以外 を除 除いて"
)
CONDITION_STARTS = {"portuguese": "se", "italian": "se"}
"""Words that are a condition only where a clause begins."""

LIMITS = {
    "english": (
        "only solely exclusively merely until till at_most at_best no_more_than partly partially"
    ),
    "german": "nur ausschließlich lediglich bis höchstens allenfalls bloß teilweise erst",
    "french": (
        "seulement uniquement exclusivement jusqu'à jusqu'en jusqu'au tout_au_plus "
        "partiellement ne_que"
    ),
    "spanish": (
        "solo sólo solamente únicamente hasta exclusivamente como_máximo a_lo_sumo parcialmente"
    ),
    "portuguese": "só somente apenas unicamente até exclusivamente no_máximo parcialmente",
    "italian": "solo soltanto solamente unicamente fino al_massimo parzialmente",
    "dutch": "alleen slechts uitsluitend tot_en_met hooguit",
    "swedish": "endast bara enbart högst",
    "danish": "kun højst",
    "norwegian": "bare kun høyst",
    "polish": "tylko wyłącznie jedynie co_najwyżej",
    "czech": "jen pouze jenom nanejvýš",
    "russian": "только лишь исключительно единственно до_тех_пор не_более частично",
    "ukrainian": "лише тільки виключно",
    "greek": "μόνο μόνον αποκλειστικά μέχρι",
    "turkish": "sadece yalnızca yalnız kadar",
    "arabic": "فقط حصرا إنما حتى وحده وحدها جزئيا",
    "hebrew": "רק בלבד עד אך_ורק",
    "hungarian": "csak kizárólag",
    "romanian": "numai doar exclusiv până",
    "hindi": "केवल सिर्फ़ सिर्फ तक",
    "indonesian": "hanya sampai",
    "vietnamese": "chỉ",
}
UNSPACED_LIMITS = "只 僅 仅 唯有 才能 直到 为止 為止 だけ のみ しか まで に限り 部分的"
UNSPACED_NO_LIMITS = "只是 不只 一只 两只 只猫 只狗 隻 不仅 不僅 只好"

NO_LIMITS = (
    "not_only if_only the_only an_only nicht_nur non_seulement no_solo no_sólo não_só non_solo"
)
"""Words that look like a limit and are none."""

CONCESSIONS = (
    "even_if even_though as_if if_not if_any if_anything auch_wenn selbst_wenn wenn_auch als_ob "
    "même_si quand_même aunque incluso_si mesmo_que mesmo_se ainda_que anche_se ook_al även_om "
    "selv_om nawet_jeśli даже_если хотя ακόμα_κι_αν حتى_لو وإن גם_אם أم_لا"
)
"""A condition that restricts nothing."""
UNSPACED_CONCESSIONS = "即使 即便 哪怕 就算 たとえ としても"
