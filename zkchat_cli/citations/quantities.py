"""Words that say how much, how many or how exactly, by language; written as in `negations`. A
quotation that begins behind one, or ends before one, says more than its sentence.
"""

QUANTIFIERS = {
    "english": (
        "most few fewer little many some several half a_third a_quarter two_thirds "
        "three_quarters part parts majority minority almost nearly roughly approximately "
        "circa at_most at_least up_to more_than less_than fewer_than no_more_than "
        "not_more_than as_many_as as_much_as as_few_as as_little_as just_under just_over "
        "less more well_over close_to a_few a_little certain other_than any_of one_of two_of "
        "maximum minimum exceeding practically virtually mostly partly partially percent_of"
    ),
    "german": (
        "die_meisten meisten meiste wenige weniger wenig viele manche einige mehrere halb "
        "halbe hälfte ein_drittel ein_viertel teil teile mehrheit minderheit fast_alle "
        "fast_alles fast_jeder fast_jede fast_jedes fast_immer fast_ganz fast beinahe "
        "nahezu etwa ungefähr circa zirka mehr_als weniger_als höchstens mindestens bis_zu "
        "maximal minimal knapp nicht_mehr_als teilweise großteil prozent_der prozent_des"
    ),
    "french": (
        "plupart peu certains certaines quelques plusieurs beaucoup moitié tiers quart "
        "partie majorité minorité presque environ près_de quasi plus_de moins_de au_plus "
        "au_moins jusqu'à maximum minimum à_peine"
    ),
    "spanish": (
        "mayoría minoría pocos pocas poco algunos algunas varios varias muchos muchas mitad "
        "tercio cuarto parte casi cerca_de alrededor_de unos unas aproximadamente más_de "
        "menos_de como_máximo al_menos hasta máximo mínimo por_lo_menos a_lo_sumo"
    ),
    "portuguese": (
        "maioria minoria poucos poucas pouco alguns algumas vários várias muitos muitas "
        "metade terço quarto parte quase cerca_de aproximadamente mais_de menos_de no_máximo "
        "pelo_menos até máximo mínimo uns umas ao_menos"
    ),
    "italian": (
        "maggior_parte maggioranza minoranza pochi poche poco alcuni alcune molti molte metà "
        "terzo parte quasi circa più_di meno_di almeno al_massimo fino_a"
    ),
    "dutch": (
        "meeste weinig enkele sommige veel helft deel bijna ongeveer meer_dan minder_dan "
        "hoogstens minstens"
    ),
    "swedish": (
        "flesta få några många hälften del nästan ungefär cirka mer_än mindre_än högst minst "
        "upp_till"
    ),
    "polish": (
        "większość niewiele kilka niektóre wiele połowa część prawie około ponad mniej_niż "
        "co_najmniej"
    ),
    "russian": (
        "большинство меньшинство немногие мало некоторые многие несколько половина треть "
        "четверть часть почти около примерно приблизительно более больше менее меньше "
        "не_более не_менее максимум минимум свыше"
    ),
    "greek": (
        "περισσότεροι περισσότερα λίγοι λίγα μερικοί μερικά πολλοί μισό σχεδόν περίπου πάνω_από "
        "κάτω_από"
    ),
    "arabic": (
        "معظم أغلب أغلبية بعض قليل قلة كثير العديد نصف ثلث ربع جزء تقريبا حوالي أكثر أقل "
        "على_الأكثر على_الأقل ما_بين يقارب غالبية"
    ),
    "hebrew": "רוב מעט כמה חלק חצי כמעט בערך יותר פחות לפחות לכל_היותר עד",
    "turkish": "çoğu birkaç bazı yarısı neredeyse yaklaşık en_fazla en_az",
    "indonesian": "sebagian beberapa banyak hampir sekitar lebih_dari kurang_dari",
    "korean": "대부분 일부 거의 약 최대 최소",
    "hindi": "अधिकांश कुछ लगभग आधा कम ज़्यादा",
}
"""Right before a quotation, perhaps with words of `OF` and one other word between."""

NUMBER_BOUNDS = (
    "about around over under above below between within near beyond by to über unter um rund gut "
    "gegen zwischen von bis sur entre vers autour sobre hasta até cerca fra tra verso circa rond "
    "tussen tot до от с между около بين نحو حتى ca c par"
)
"""Right before a number."""
OF = (
    "of the a an these those this that our my your his her its their all der die das den dem des "
    "dieser diesen von vom meiner unserer ein eine einen de du la le les l' d' des ces nos los las "
    "el del unos estos estas os as o da do dos das di della delle dei degli i gli il than als que "
    "from to von_den all_of than_the or und and is are was were sind ist من est sont es son são"
)
UNSPACED_QUANTIFIERS = (
    "大多数 大多數 多数 多數 大部分 部分 一部分 少数 少數 有些 一些 许多 許多 很多 几乎 幾乎 "
    "差不多 "
    "大约 大約 约 約 近 将近 將近 至多 最多 至少 不到 不足 超过 超過 一半 半数 半數 不超过 多达 "
    "大概 ほとんど 多く 一部 約 ほぼ およそ 最大 最低 少なくとも 半分 少数"
)

BOUNDS_BEHIND = {
    "english": (
        "at_most at_least or_more or_less or_fewer or_older or_younger "
        "or_earlier or_later maximum minimum max min tops approximately roughly on_average "
        "or_higher or_lower or_above or_below percent_of"
    ),
    "german": ("höchstens mindestens oder_mehr oder_weniger maximal minimal im_schnitt oder_älter"),
    "french": (
        "au_plus au_moins ou_plus ou_moins maximum minimum environ en_moyenne au_maximum au_minimum"
    ),
    "spanish": (
        "o_más o_menos como_máximo como_mínimo al_menos aproximadamente a_lo_sumo en_promedio"
    ),
    "portuguese": "ou_mais ou_menos no_máximo no_mínimo aproximadamente em_média pelo_menos",
    "italian": "o_più o_meno al_massimo al_minimo in_media circa",
    "dutch": "of_meer of_minder maximaal minimaal gemiddeld",
    "swedish": "eller_mer eller_färre eller_mindre som_mest",
    "russian": "и_более и_больше и_менее и_меньше или_более или_менее максимум минимум в_среднем",
    "arabic": "على_الأكثر على_الأقل أو_أكثر أو_أقل فأكثر فأقل كحد_أقصى كحد_أدنى تقريبا",
}
"""Right behind a quotation."""
NUMBER_BOUNDS_BEHIND = (
    "and_more and_up und_mehr et_plus y_más e_mais or_so and_a_half et_demi y_medio e_meia "
    "с_половиной"
)
"""Right behind a number."""
UNSPACED_BOUNDS_BEHIND = "以上 以下 以内 以內 左右 未満 ほど 程度 上下 くらい 近く"
CJK_NUMERALS = frozenset("〇零一二三四五六七八九十百千万萬亿億兆两兩0123456789")
CJK_MORE = frozenset("多余餘几幾数數")
"""Behind a numeral: "and a few more"."""

NUMBER_WORDS = {
    "english": (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
        "hundred hundreds thousand thousands million millions billion billions dozen dozens half"
    ),
    "german": (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig "
        "sechzig siebzig achtzig neunzig hundert tausend million millionen milliarde milliarden "
        "dutzend einhalb"
    ),
    "french": (
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
        "vingt trente quarante cinquante soixante cent cents mille million millions milliard "
        "milliards douzaine"
    ),
    "spanish": (
        "dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta "
        "cincuenta sesenta setenta ochenta noventa cien ciento doscientos trescientos mil millón "
        "millones docena"
    ),
    "portuguese": (
        "dois duas três quatro cinco seis sete oito nove dez onze doze quinze vinte trinta "
        "quarenta "
        "cinquenta sessenta setenta oitenta noventa cem cento duzentos trezentos mil milhão milhões"
    ),
    "italian": (
        "due tre quattro cinque sei sette otto nove dieci venti trenta cento mille mila milione "
        "milioni"
    ),
    "russian": (
        "два две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать двадцать "
        "тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто двести триста "
        "четыреста пятьсот шестьсот тысяча тысячи тысяч миллион миллиона миллионов"
    ),
    "arabic": (
        "اثنان اثنين ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة عشرون عشرين ثلاثون مئة مائة ألف "
        "آلاف مليون ملايين"
    ),
}
"""Numbers in words, which continue one another: "two hundred"."""
NUMBER_JOINTS = "and und et y e и و"
