"""Ways to falsify a quote and ways in which an honest quote drifts, for `benchmarks/tamper.py`.

Each way takes a seeded generator and a sentence with its surroundings, and returns the changed quote or None when it
doesn't apply. They share no code with the locator, so that they can catch it out.
"""

from __future__ import annotations

import html
import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A sentence, the text it stands in, that text's other sentences, and every long word of the corpus."""

    sentence: str
    text: str
    others: tuple[str, ...]
    words: frozenset[str]


Way = Callable[[random.Random, Setting], str | None]


def _pick(rng: random.Random, pattern: str, sentence: str, flags: int = 0) -> re.Match[str] | None:
    found = list(re.finditer(pattern, sentence, flags))
    return rng.choice(found) if found else None


def _put(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[:match.start()] + new + sentence[match.end():]


def _cased(new: str, old: str) -> str:
    return new[0].upper() + new[1:] if old[:1].isupper() else new


def _swap_from(pairs: str) -> Way:
    """Replaces a word by its partner, either way: `more/less fewer/more …`."""
    table: dict[str, list[str]] = {}
    for pair in pairs.split():
        one, other = pair.replace("_", " ").split("/")
        table.setdefault(one.casefold(), []).append(other)
        table.setdefault(other.casefold(), []).append(one)
    pattern = r"(?<![\w-])(?:" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + r")(?![\w-])"

    def way(rng: random.Random, at: Setting) -> str | None:
        match = _pick(rng, pattern, at.sentence, re.IGNORECASE)
        if not match:
            return None
        return _put(at.sentence, match, _cased(rng.choice(table[match.group().casefold()]), match.group()))

    return way


# --- numbers
def digit(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"\d", at.sentence)
    return _put(at.sentence, match, rng.choice([d for d in "0123456789" if d != match.group()])) if match else None


def digits_swapped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(\d)(?!\1)(\d)", at.sentence)
    return _put(at.sentence, match, match[2] + match[1]) if match else None


def digit_dropped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=\d)\d|\d(?=\d)", at.sentence)
    return _put(at.sentence, match, "") if match else None


def decimal_point(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(\d+)[.·](\d+)", at.sentence)
    if not match:
        return None
    moved = [match[1] + match[2], f"{match[1]}{match[2][0]}.{match[2][1:]}".rstrip("."), f"{match[1]}.0{match[2]}"]
    return _put(at.sentence, match, rng.choice(moved))


def interval_bound(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=CI)([^)\]]{0,12}?)(\d+[.·]\d+)((?:\s?[-–−]\s?|\s?,\s?|\s+to\s+)[-–−]?)(\d+[.·]\d+)", at.sentence)
    if not match:
        return None
    low, high = match[2], match[4]
    if rng.random() < 0.5:
        low = low[:-1] + str((int(low[-1]) + rng.randint(1, 9)) % 10)
    else:
        high = high[:-1] + str((int(high[-1]) + rng.randint(1, 9)) % 10)
    return _put(at.sentence, match, match[1] + low + match[3] + high)


def p_value(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<![A-Za-z])[Pp]\s*(?:-?value)?\s*[<=>≤≥]\s*(?:0?[.·])(\d+)", at.sentence)
    if not match:
        return None
    number = match[1]
    new = rng.choice(["0" + number, number[:-1] + str((int(number[-1]) + 3) % 10), number.lstrip("0") or "5"])
    return None if new == number else at.sentence[:match.start(1)] + new + at.sentence[match.end(1):]


def range_turned(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(\d+(?:\.\d+)?)(\s?[-–]\s?|\s+to\s+|/)(?!\1\b)(\d+(?:\.\d+)?)", at.sentence)
    return _put(at.sentence, match, match[3] + match[2] + match[1]) if match else None


def exponent(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=10)[⁰¹²³⁴-⁹]|(?<=10\^)\d", at.sentence)
    return _put(at.sentence, match, "4" if match.group() not in "4⁴" else "5") if match else None


number_word = _swap_from(
    "one/two two/three three/four four/five five/six six/seven seven/eight eight/nine nine/ten eleven/twelve "
    "twenty/thirty thirty/forty half/third twice/thrice double/triple twofold/threefold first/second third/fourth "
    "hundred/thousand million/billion twelve/twenty"
)
roman_numeral = _swap_from("II/III III/IV I/II IV/V")


def comparator(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"[<>≤≥=±]", at.sentence)
    return _put(at.sentence, match, rng.choice([c for c in "<>=≥≤" if c != match.group()])) if match else None


def sign(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=[\s(\[=:])[-−–](?=\d)|(?<=\b(?:to|of|by|CI))\s(?=\d+\.\d)|(?<=[=(])\s?(?=\d+\.\d)", at.sentence)
    return _put(at.sentence, match, "" if match.group().strip() else match.group() + "-") if match else None


unit = _swap_from(
    "mg/g mg/µg mg/mcg mg/kg kg/g µg/ng ng/pg mL/L mL/dL ml/l ml/dl mmol/µmol mmol/mol µmol/nmol mm/cm cm/m µm/nm km/m "
    "days/weeks weeks/months months/years hours/days minutes/hours seconds/minutes day/week week/month month/year "
    "hour/day minute/hour daily/weekly weekly/monthly mmHg/cmHg kcal/kJ min/h %/‰ μm/mm μg/mg μM/mM nM/µM mM/M g/kg "
    "IU/mIU Hz/kHz h/d yr/mo yrs/mo"
)


def percent_points(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=\d)\s?%", at.sentence)
    return _put(at.sentence, match, rng.choice([" percentage points", " mg", ""])) if match else None


# --- negation
def negation_dropped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"\b(?:not|no|never|without|neither|nor|cannot)\b\s?|n't\b", at.sentence, re.IGNORECASE)
    if not match:
        return None
    new = {"without": "with ", "neither": "both ", "nor": "and ", "cannot": "can "}.get(match.group().strip().lower(), "")
    left = _put(at.sentence, match, _cased(new, match.group()) if new else "")
    return left[:1].upper() + left[1:] if match.start() == 0 else left


def negation_added(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"\b(?:is|are|was|were|has|have|had|did|does|do|can|may|should|could|will|be)\b(?! not)", at.sentence)
    return _put(at.sentence, match, match.group() + rng.choice([" not", " never", " no longer"])) if match else None


def negating_prefix(rng: random.Random, at: Setting) -> str | None:
    pattern = r"\b(?:(un|in|non|non-|a|dis|im)(?=(?:\w{5,}))|(?=(?:significant|associated|effective|related|adjusted|"\
              r"treated|symptomatic|able|diabetic|responders|sufficient|dependent|adequate|likely|affected|fatal)))"
    match = _pick(rng, pattern, at.sentence)
    if not match:
        return None
    if match[1]:
        rest = re.match(r"\w+", at.sentence[match.end():])
        known = rest and rest.group().lower() in at.words
        return _put(at.sentence, match, "") if known else None
    return _put(at.sentence, match, rng.choice(["non", "un", "in", "non-"]))


not_now = _swap_from("not/now with/without no/some none/all neither/both never/always unable/able failed/managed nor/or")

# --- direction
direction = _swap_from(
    "increase/decrease increased/decreased increases/decreases increasing/decreasing increased/reduced reduce/increase "
    "reduces/increases reduction/increase reductions/increases higher/lower highest/lowest greater/smaller more/less "
    "more/fewer most/least better/worse improved/worsened improve/worsen improves/worsens improvement/deterioration "
    "elevated/lowered raised/lowered rose/fell rise/fall above/below over/under before/after positive/negative "
    "positively/negatively upregulated/downregulated upregulation/downregulation longer/shorter larger/smaller "
    "stronger/weaker gain/loss gained/lost superior/inferior early/late earlier/later maximum/minimum high/low "
    "enhanced/impaired promotes/inhibits activates/inhibits activated/inhibited induced/suppressed induces/suppresses "
    "older/younger faster/slower beneficial/harmful protective/detrimental frequent/rare common/uncommon "
    "effective/ineffective safe/unsafe significant/insignificant similar/different significantly/insignificantly "
    "always/rarely often/seldom prevents/causes success/failure survival/mortality benefit/harm excess/deficit"
)
medical_pair = _swap_from(
    "hypertension/hypotension hyperglycemia/hypoglycemia hyperglycaemia/hypoglycaemia hypothyroidism/hyperthyroidism "
    "hyperkalemia/hypokalemia systolic/diastolic anterior/posterior proximal/distal ventral/dorsal medial/lateral "
    "acute/chronic benign/malignant arterial/venous left/right upper/lower intravenous/oral intracellular/extracellular "
    "anemia/uremia nitrite/nitrate agonist/antagonist agonists/antagonists afferent/efferent inhibitor/activator "
    "inhibitors/activators sensitivity/specificity prevalence/incidence inpatient/outpatient inpatients/outpatients "
    "prospective/retrospective aerobic/anaerobic cranial/caudal bacterial/viral intramuscular/intravenous in_vivo/in_vitro "
    "insulin/inulin mean/median relative/absolute odds/hazard exogenous/endogenous ureter/urethra ileum/ilium prenatal/postnatal "
    "preoperative/postoperative premenopausal/postmenopausal homozygous/heterozygous type_1/type_2 saturated/unsaturated "
    "soluble/insoluble symptomatic/asymptomatic ischemic/ischaemic_haemorrhagic microbial/antimicrobial intervention/prevention"
)
adverb = _swap_from(
    "may/does may/will could/does might/will suggest/prove suggests/proves possibly/certainly probably/certainly "
    "associated_with/caused_by likely/certain potential/proven often/always sometimes/always partially/completely "
    "slightly/markedly some/all most/all several/all mainly/only at_least/at_most up_to/at_least should/must can/cannot "
    "before/during when/unless if/unless and/or because/although despite/because_of except/including between/within"
)

# --- arms, drugs, populations
def arms_swapped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(
        rng, r"\b([A-Za-z][\w-]{2,}(?: [a-z]{3,})?)( (?:vs\.?|versus|compared (?:with|to)|than(?: in| with)?|rather than|or|and) "
             r"(?:the |in |with )?)([A-Za-z][\w-]{2,})\b", at.sentence)
    if not match or match[1].lower() == match[3].lower():
        return None
    return _put(at.sentence, match, _cased(match[3], match[1]) + match[2] + match[1][0].lower() + match[1][1:])


arm = _swap_from(
    "placebo/control placebo/treatment intervention/control experimental/control treatment/placebo treated/untreated "
    "cases/controls case/control active/placebo semaglutide/placebo exposed/unexposed former/latter wild-type/mutant "
    "surgery/chemotherapy group_A/group_B arm_A/arm_B group_1/group_2 screening/control vaccine/placebo"
)
drug = _swap_from(
    "semaglutide/liraglutide semaglutide/tirzepatide liraglutide/dulaglutide exenatide/lixisenatide metformin/insulin "
    "insulin/glucagon aspirin/warfarin heparin/warfarin atorvastatin/simvastatin simvastatin/rosuvastatin "
    "cisplatin/carboplatin tamoxifen/raloxifene estrogen/progesterone estrogen/testosterone dopamine/serotonin "
    "morphine/codeine vitamin_D/vitamin_C vitamin_E/vitamin_A zinc/iron calcium/magnesium glucose/fructose "
    "methotrexate/azathioprine rapamycin/tacrolimus ibuprofen/naproxen prednisone/prednisolone cholesterol/triglyceride "
    "penicillin/ampicillin amoxicillin/ampicillin oxytocin/vasopressin IL-6/IL-8 IL-1/IL-2 TNF/IFN p53/p63 mTOR/AMPK "
    "clozapine/olanzapine fluoxetine/paroxetine celecoxib/rofecoxib cefazolin/cefuroxime losartan/valsartan leptin/ghrelin "
    "folate/folic_acid BRCA1/BRCA2 HDL/LDL epinephrine/norepinephrine nicotine/caffeine ethanol/methanol"
)
population = _swap_from(
    "men/women male/female males/females boys/girls children/adults adults/adolescents infants/children patients/volunteers "
    "mice/rats mouse/rat human/mouse humans/mice man/woman maternal/paternal mothers/fathers elderly/young smokers/nonsmokers "
    "obese/lean diabetic/nondiabetic black/white urban/rural pregnant/postpartum outpatients/inpatients students/teachers "
    "nurses/physicians American/European Chinese/Japanese United_States/United_Kingdom breast/prostate lung/colon "
    "kidney/liver renal/hepatic cardiac/renal brain/heart hip/knee"
)


# --- words and sentences
_SMALL = frozenset(
    "the and for with was were are that this from which have has had been their its than when also into between who our".split()
)


def _content(at: Setting) -> list[re.Match[str]]:
    words = [m for m in re.finditer(r"(?<![\w-])[A-Za-z]{4,}(?![\w-])", at.sentence) if m.group().lower() not in _SMALL]
    return [m for m in words if m.start() > 0 and m.end() < len(at.sentence.rstrip(" ."))]


def word_dropped(rng: random.Random, at: Setting) -> str | None:
    words = [m for m in _content(at) if at.sentence[m.end()] == " "]
    if not words:
        return None
    match = rng.choice(words)
    return at.sentence[:match.start()] + at.sentence[match.end() + 1:]


def hedge_dropped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(
        rng, r"(?<=\w )(?:significantly|statistically|may|might|could|possibly|probably|potentially|partially|only|"
             r"approximately|about|nearly|almost|at least|up to|more than|less than|clinically|independently|likely|"
             r"apparently|some|mainly|relatively|slightly|modestly|marginally|seem to|appears? to|tended to) ", at.sentence)
    return _put(at.sentence, match, "") if match else None


def word_added(rng: random.Random, at: Setting) -> str | None:
    words = _content(at)
    if not words:
        return None
    new = rng.choice("significantly only mostly severe markedly all clinically consistently early major rapidly".split())
    place = rng.choice(words).start()
    return f"{at.sentence[:place]}{new} {at.sentence[place:]}"


def word_replaced(rng: random.Random, at: Setting) -> str | None:
    words, others = _content(at), [w for o in at.others for w in re.findall(r"\b[a-z]{5,}\b", o)]
    if not words or not others:
        return None
    match, new = rng.choice(words), rng.choice(others)
    return None if new == match.group().lower() else _put(at.sentence, match, _cased(new, match.group()))


def words_turned(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=\s)([A-Za-z]{4,}) ([A-Za-z]{4,})(?=\s)", at.sentence)
    if not match or match[1].lower() == match[2].lower():
        return None
    return _put(at.sentence, match, f"{match[2]} {match[1]}")


def clause_added(rng: random.Random, at: Setting) -> str | None:
    clauses = (
        " in all patients", ", which was statistically significant", " and reduced mortality", " in women only",
        " regardless of age", " without serious adverse events", " after one year of treatment", ", especially in older adults",
        " and was well tolerated", " compared with placebo",
    )
    body = at.sentence.rstrip(" .")
    if rng.random() < 0.5 and ", " in body:
        place = body.index(", ")
        return body[:place] + rng.choice(clauses).rstrip(",") + at.sentence[place:]
    return body + rng.choice(clauses) + "."


def clause_in_front(rng: random.Random, at: Setting) -> str | None:
    lead = rng.choice(["In a large trial, ", "Contrary to expectation, ", "In men, ", "After adjustment, ", "Clearly, "])
    return lead + at.sentence[0].lower() + at.sentence[1:]


def qualifier_dropped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r" (?:in|among|with|without|after|during|for|of) (?:[\w-]+ ){0,3}[\w-]+(?=[ ,])", at.sentence)
    if not match or match.start() < 15:
        return None
    return _put(at.sentence, match, "")


def splice(rng: random.Random, at: Setting) -> str | None:
    """The beginning of one sentence and the end of another, without an ellipsis."""
    other = rng.choice(at.others) if at.others else ""
    first, second = at.sentence.split(), other.split()
    if len(first) < 8 or len(second) < 8:
        return None
    return " ".join(first[:len(first) // 2] + second[len(second) // 2:])


def splice_joined(rng: random.Random, at: Setting) -> str | None:
    other = rng.choice(at.others) if at.others else ""
    if len(other.split()) < 5:
        return None
    link = rng.choice([", and ", " because ", "; therefore, ", " and "])
    return at.sentence.rstrip(" .") + link + other[0].lower() + other[1:]


def _elide(at: Setting, rng: random.Random, pattern: str, flags: int = re.IGNORECASE) -> str | None:
    match = _pick(rng, pattern, at.sentence, flags)
    if not match:
        return None
    before = at.sentence[:match.start()].rsplit(" ", rng.randint(1, 2))[0].rstrip(" ,")
    after = at.sentence[match.end():].lstrip(" ,")
    if len(before.split()) < 3 or len(after.split()) < 3:
        return None
    return before + rng.choice([" … ", " ... ", " [...] "]) + after


def elided_negation(rng: random.Random, at: Setting) -> str | None:
    return _elide(at, rng, r"\b(?:not|no|never|without|neither|nor|failed to|lack of)\b")


def elided_number(rng: random.Random, at: Setting) -> str | None:
    if "(" in at.sentence or "[" in at.sentence:
        return None
    return _elide(at, rng, r"(?<=\s)\d[\d.,]*%?(?=[\s,;])")


def elided_arm(rng: random.Random, at: Setting) -> str | None:
    if "(" in at.sentence:
        return None
    return _elide(at, rng, r"\b(?:placebo|controls?|semaglutide|liraglutide|metformin|insulin|warfarin|aspirin)\b")


def sentence_invented(rng: random.Random, at: Setting) -> str | None:
    subject = " ".join(at.sentence.split()[:3])
    return f"{subject} was associated with a {rng.randint(11, 89)}% lower risk of death over {rng.randint(2, 9)} years."


TAMPERINGS: dict[str, Way] = {
    "digit": digit, "digits swapped": digits_swapped, "digit dropped": digit_dropped, "decimal point": decimal_point,
    "interval bound": interval_bound, "P value": p_value, "range turned": range_turned, "exponent": exponent,
    "number word": number_word, "roman numeral": roman_numeral, "comparator": comparator, "sign": sign, "unit": unit,
    "percent": percent_points, "negation dropped": negation_dropped, "negation added": negation_added,
    "negating prefix": negating_prefix, "not/now, with/without": not_now, "direction": direction,
    "medical pair": medical_pair, "modality": adverb, "arms swapped": arms_swapped, "arm": arm, "drug": drug,
    "population": population, "word dropped": word_dropped, "hedge dropped": hedge_dropped, "word added": word_added,
    "word replaced": word_replaced, "words turned": words_turned, "clause added": clause_added,
    "clause in front": clause_in_front, "qualifier dropped": qualifier_dropped, "splice": splice,
    "two sentences joined": splice_joined, "elision over a negation": elided_negation,
    "elision over a number": elided_number, "elision over an arm": elided_arm, "sentence invented": sentence_invented,
}
#: Kinds that change a number, sign, unit or negation: each must be caught in 99 of 100.
STRICT = frozenset({
    "digit", "digits swapped", "digit dropped", "decimal point", "interval bound", "P value", "range turned", "exponent",
    "number word", "roman numeral", "comparator", "sign", "unit", "percent", "negation dropped", "negation added",
    "negating prefix", "not/now, with/without", "elision over a negation", "elision over a number",
})


# --- honest drift
def _changed(new: str, at: Setting) -> str | None:
    return new if new != at.sentence else None


def _translated(table: dict[str, list[str]]) -> Way:
    def way(rng: random.Random, at: Setting) -> str | None:
        return _changed("".join(rng.choice(table[c]) if c in table else c for c in at.sentence), at)

    return way


dashes = _translated({"-": ["‐", "‑", "–", "−"], "–": ["-", "‒", "−"], "−": ["-", "–"], "—": ["–", "―"]})
quotes = _translated({'"': ["“", "”", "„"], "'": ["’", "‘", "′"], "“": ['"'], "”": ['"'], "’": ["'"], "‘": ["'"]})


def spaces(rng: random.Random, at: Setting) -> str | None:
    odd = ["\u00a0", "\u2009", "\u202f", "  ", "\n", "\u2002", " \u200b", " "]
    return _changed("".join(rng.choice(odd) if c == " " else c for c in at.sentence), at)


def invisible(rng: random.Random, at: Setting) -> str | None:
    words = at.sentence.split(" ")
    for _ in range(3):
        place = rng.randrange(len(words))
        word = words[place]
        if len(word) > 4 and word.isalpha():
            cut = rng.randint(2, len(word) - 2)
            words[place] = word[:cut] + rng.choice(["\u00ad", "\u200b", "\u2060", "\ufeff"]) + word[cut:]
    return _changed(" ".join(words), at)


def middle_dots(rng: random.Random, at: Setting) -> str | None:
    return _changed(re.sub(r"(?<=\d)\.(?=\d)", rng.choice("·∙"), at.sentence), at)


def ligatures(rng: random.Random, at: Setting) -> str | None:
    new = at.sentence
    for plain, one in (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ")):
        new = new.replace(plain, one)
    return _changed(new, at)


def capitals(rng: random.Random, at: Setting) -> str | None:
    return _changed(rng.choice([at.sentence.upper(), at.sentence.lower(), at.sentence.capitalize(), at.sentence.title()]), at)


def first_letter(rng: random.Random, at: Setting) -> str | None:
    return _changed(at.sentence[0].swapcase() + at.sentence[1:], at)


def entities(rng: random.Random, at: Setting) -> str | None:
    new = html.escape(at.sentence)
    for char, name in (("±", "plusmn"), ("µ", "micro"), ("≥", "ge"), ("≤", "le"), ("–", "ndash"), ("−", "minus"), ("α", "alpha"),
                       ("β", "beta"), ("é", "eacute"), ("°", "deg"), ("×", "times")):
        new = new.replace(char, f"&{name};")
    return _changed(new, at)


def line_hyphens(rng: random.Random, at: Setting) -> str | None:
    words = list(re.finditer(r"[a-z]{8,}", at.sentence))
    if not words:
        return None
    match = rng.choice(words)
    cut = match.start() + rng.randint(3, len(match.group()) - 3)
    return at.sentence[:cut] + rng.choice(["-\n", "-\r\n", "- \n  ", "\u00ad\n"]) + at.sentence[cut:]


_BRITISH = (
    (r"tumor", "tumour"), (r"\bhemo", "haemo"), (r"\bhemato", "haemato"), (r"(?<=[cn])emia", "aemia"), (r"\bedema", "oedema"),
    (r"behavior", "behaviour"), (r"(?<=[a-z]{4})iz(?=ed\b|ing\b|ation)", "is"), (r"\bcenter(?=s?\b)", "centre"),
    (r"pediatric", "paediatric"), (r"\bestr(?=ogen|adiol)", "oestr"), (r"analyz(?=ed|ing)", "analys"), (r"\bfetal\b", "foetal"),
    (r"\bcolor", "colour"), (r"labeled", "labelled"), (r"\bfiber(?=s?\b)", "fibre"), (r"\besophag", "oesophag"),
    (r"diarrhea", "diarrhoea"), (r"orthopedic", "orthopaedic"), (r"gynecolog", "gynaecolog"), (r"anesthe", "anaesthe"),
    (r"\bfavor", "favour"), (r"\bprogram(?=s?\b)", "programme"), (r"\betiolog", "aetiolog"), (r"glycemi", "glycaemi"),
    (r"ischemi", "ischaemi"), (r"signaling", "signalling"), (r"sulf", "sulph"), (r"leukemi", "leukaemi"),
    (r"\bceliac", "coeliac"), (r"defense", "defence"), (r"\bgray\b", "grey"), (r"\baging\b", "ageing"),
    (r"\benrollment", "enrolment"), (r"modeling", "modelling"), (r"\btoward\b", "towards"),
)
_AMERICAN = (
    (r"tumour", "tumor"), (r"haem", "hem"), (r"aemi", "emi"), (r"oedema", "edema"), (r"behaviour", "behavior"),
    (r"(?<=[a-z]{4})is(?=ed\b|ing\b|ation)(?<!rais)(?<!prac)(?<!exerc)(?<!compr)(?<!compris)(?<!superv)", "iz"),
    (r"centre", "center"), (r"paed", "ped"), (r"oestr", "estr"), (r"foet", "fet"), (r"colour", "color"),
    (r"labelled", "labeled"), (r"fibre", "fiber"), (r"oesoph", "esoph"), (r"diarrhoea", "diarrhea"), (r"favour", "favor"),
    (r"programme", "program"), (r"aetiolog", "etiolog"), (r"ischaem", "ischem"), (r"sulph", "sulf"), (r"litre", "liter"),
)


def british(rng: random.Random, at: Setting) -> str | None:
    """The other side's spelling, whichever side the sentence is on."""
    new = at.sentence
    pairs = _AMERICAN if any(re.search(old, new) for old, _ in _AMERICAN) else _BRITISH
    for old, fresh in pairs:
        new = re.sub(old, fresh, new)
    return _changed(new, at)


def typo(rng: random.Random, at: Setting) -> str | None:
    """One slip in a word of eight letters or more whose result is no word of the corpus."""
    words = list(re.finditer(r"(?<![\w-])[A-Za-z][a-z]{7,}(?![\w-])", at.sentence))
    for match in rng.sample(words, min(3, len(words))):
        word, place = match.group(), rng.randint(2, len(match.group()) - 3)
        slips = [word[:place] + word[place + 1] + word[place] + word[place + 2:], word[:place] + word[place + 1:],
                 word[:place] + word[place] + word[place:], word[:place] + rng.choice("aeiorst") + word[place + 1:]]
        slip = rng.choice(slips)
        if slip.lower() not in at.words and slip != word:
            return _put(at.sentence, match, slip)
    return None


def full_stop(rng: random.Random, at: Setting) -> str | None:
    bare = at.sentence.rstrip(".")
    return bare if bare != at.sentence else at.sentence + "."


def comma_end(rng: random.Random, at: Setting) -> str | None:
    return at.sentence.rstrip(".") + rng.choice([",", ";", "..", " .", "!"])


_HEAVY = re.compile(
    r"\d|\b(?:no|non|not|never|nor|neither|without|cannot|only|except|fail\w*|lack\w*|absen\w*|unless|placebo|interventions?|controls?|groups?|arms?|"
    r"two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|billion|warfarin|aspirin|insulin|heparin|morphine|more|less|fewer|higher|lower|increas\w*|decreas\w*|reduc\w*|"
    r"unlikely|unable|excluding|rather|instead|men|women|male|female|males|females|adults|children|infants|half|twice|"
    r"hardly|rarely|seldom|\w+(?:mab|nib|statin|fibrate|glutide|pril|sartan|olol|formin|gliptin|vir|mycin|cillin|azole|platin|taxel|tide))\b|n't",
    re.IGNORECASE,
)


def ellipsis(rng: random.Random, at: Setting) -> str | None:
    """Two to five words of no weight left out of the middle."""
    words = at.sentence.split(" ")
    if len(words) < 14:
        return None
    for _ in range(6):
        start, size = rng.randint(4, len(words) - 9), rng.randint(2, 5)
        skipped = " ".join(words[start:start + size])
        if not _HEAVY.search(skipped) and not re.search(r"[()\[\].;:]", skipped):
            return " ".join([*words[:start], rng.choice(["…", "...", "[…]", "[...]", "(...)", ". . ."]), *words[start + size:]])
    return None


def ellipsis_outside(rng: random.Random, at: Setting) -> str | None:
    return rng.choice([f"… {at.sentence}", f"{at.sentence.rstrip('.')}...", f"...{at.sentence}…", f"[...] {at.sentence}"])


def aside_dropped(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r" \([^()\[\]]{3,60}\)(?=[ ,.])", at.sentence)
    negated = r"\b(?:no|not|non|without|nor|rather|instead|except|excluding|lack)\b|n't"
    if not match or re.search(negated, match.group()) or match.start() < 12:
        return None
    return _put(at.sentence, match, "") if len(at.sentence) - len(match.group()) > 40 else None


def decomposed(rng: random.Random, at: Setting) -> str | None:
    return _changed(unicodedata.normalize("NFD", at.sentence), at)


def marked_up(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"\b[A-Za-z]{5,}\b", at.sentence)
    mark = rng.choice(["*", "**", "_", "__"])
    return _put(at.sentence, match, f"{mark}{match.group()}{mark}") if match else None


def tagged(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"\b[A-Za-z]{5,}\b", at.sentence)
    return _put(at.sentence, match, f"<i>{match.group()}</i>") if match else None


def in_quotes(rng: random.Random, at: Setting) -> str | None:
    left, right = rng.choice([('"', '"'), ("“", "”"), ("'", "'"), ("«", "»"), ("**", "**"), ("> ", "")])
    return f"{left}{at.sentence}{right}"


def percent_sign(rng: random.Random, at: Setting) -> str | None:
    if "%" in at.sentence:
        return re.sub(r"(?<=\d)\s?%", rng.choice([" %", "%", " percent", " per cent", "\u202f%"]), at.sentence)
    return _changed(re.sub(r"\s(?:percent|per cent)\b", "%", at.sentence), at)


def versus(rng: random.Random, at: Setting) -> str | None:
    new = re.sub(r"\b(?:versus|vs\.?)(?=\s)", rng.choice(["vs", "vs.", "versus"]), at.sentence)
    return _changed(new, at)


def label_prefixed(rng: random.Random, at: Setting) -> str | None:
    return f"{rng.choice(['RESULTS', 'Results', 'CONCLUSIONS', 'METHODS', 'Background', 'FINDINGS'])}: {at.sentence}"


def ascii_signs(rng: random.Random, at: Setting) -> str | None:
    new = at.sentence
    for sign_, plain in (("≥", ">="), ("≤", "<="), ("±", "+/-"), ("µ", "u"), ("μ", "u"), ("×", "x"), ("−", "-"), ("…", "...")):
        new = new.replace(sign_, plain)
    return _changed(new, at)


def typographic_signs(rng: random.Random, at: Setting) -> str | None:
    new = re.sub(r"(?<=[\s(=])-(?=\d)", "−", at.sentence)
    new = new.replace(">=", "≥").replace("<=", "≤").replace("+/-", "±")
    new = re.sub(r"(?<=\d)-(?=\d)", "–", new)
    return _changed(new, at)


def sign_spacing(rng: random.Random, at: Setting) -> str | None:
    new = re.sub(r"\s?([<>=≤≥±])\s?", rng.choice([r"\1", r" \1 ", r" \1"]), at.sentence)
    return _changed(new, at)


def unit_spacing(rng: random.Random, at: Setting) -> str | None:
    new = re.sub(r"(?<=\d)\s(?=(?:mg|kg|g|ml|mL|mm|cm|mmol)\b)", rng.choice(["", "\u00a0", "\u2009"]), at.sentence)
    return _changed(new, at)


def thousands(rng: random.Random, at: Setting) -> str | None:
    gap = rng.choice(["", " ", "\u2009", "\u202f"])
    new = re.sub(r"(?<![\d.,])(\d{1,3}),(\d{3})(?![\d,])", rf"\1{gap}\2", at.sentence)
    if new == at.sentence:
        new = re.sub(r"(?<![\w.,/-])([1-9]\d?)(\d{3})(?![\w.,/-])", r"\1,\2", at.sentence)
    return _changed(new, at)


def greek(rng: random.Random, at: Setting) -> str | None:
    new = at.sentence
    for letter, name in (("α", "alpha"), ("β", "beta"), ("γ", "gamma"), ("κ", "kappa"), ("δ", "delta")):
        new = new.replace(letter, name) if letter in new else re.sub(rf"(?<=[\s-]){name}(?=[\s-])", letter, new)
    return _changed(new, at)


def hyphens(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=[a-z]{3})-(?=[a-z]{3})", at.sentence)
    return _put(at.sentence, match, rng.choice([" ", ""])) if match else None


def article(rng: random.Random, at: Setting) -> str | None:
    match = _pick(rng, r"(?<=[a-z] )(?:the|an) ", at.sentence)
    if not match or re.match(r"(?:few|little|number)", at.sentence[match.end():]):
        return None
    return _put(at.sentence, match, "")


def part_of_sentence(rng: random.Random, at: Setting) -> str | None:
    """An honest excerpt from a comma or the beginning to a comma or the end."""
    cuts = [m.end() for m in re.finditer(r"(?<=[a-z]), (?=[a-z])", at.sentence)]
    if not cuts:
        return None
    cut = rng.choice(cuts)
    piece = at.sentence[:cut].rstrip(" ,") if rng.random() < 0.5 else at.sentence[cut:]
    return piece if len(piece) > 30 else None


def several(rng: random.Random, at: Setting) -> str | None:
    """Three kinds of typographic drift at once."""
    current = at
    for way in rng.sample([dashes, quotes, spaces, middle_dots, ligatures, first_letter, full_stop, sign_spacing], 3):
        new = way(rng, current)
        if new:
            current = Setting(new, at.text, at.others, at.words)
    return _changed(current.sentence, at)


DRIFTS: dict[str, Way] = {
    "verbatim": lambda rng, at: at.sentence, "part of a sentence": part_of_sentence, "dashes": dashes, "quotation marks": quotes,
    "spaces and line ends": spaces, "invisible characters": invisible, "middle-dot decimals": middle_dots,
    "ligatures": ligatures, "letter case": capitals, "first letter": first_letter, "HTML entities": entities, "HTML tags": tagged,
    "line-break hyphens": line_hyphens, "British/American": british, "typing error": typo, "full stop": full_stop,
    "other closing mark": comma_end, "ellipsis": ellipsis, "ellipsis outside": ellipsis_outside, "aside left out": aside_dropped,
    "decomposed accents": decomposed, "Markdown": marked_up, "in quotation marks": in_quotes, "percent": percent_sign,
    "versus": versus, "section label": label_prefixed, "ASCII signs": ascii_signs, "typographic signs": typographic_signs,
    "spacing of signs": sign_spacing, "spacing of units": unit_spacing, "thousands": thousands, "Greek letters": greek,
    "hyphens": hyphens, "article": article, "three at once": several,
}
