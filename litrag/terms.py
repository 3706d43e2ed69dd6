"""What a question is about: its content terms, each with the words that mean the same.

In: a question. Out: `Term`s that a source must mention to be able to answer it. Words that carry no subject matter
("how", "often", "effective", "patients") are no terms. Synonyms are those of clinical writing and lay speech
("kidney"/"renal", "stop"/"discontinue"); a term that is in none of the sources is what an abstention names.
"""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

from litrag.models import Model

_WORD = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ0-9]*(?:-[A-Za-z0-9]+)*(?:'s|’s)?")

_FUNCTION = """
a about above after again against all also although am among an and any are as at be became because been before
being below between both but by can cannot could did do does doing done don't down due during each either else even
ever every few for from further had has have having he her here hers him his how however i if in instead into is it
its just like made make many may me might more most much must my near need neither never no none nor not now of off
often on once one only or other others our out over own per perhaps quite rather same she should since so some still
such than that the their them then there these they this those though through throughout thus to too toward under
until up upon us versus very via vs was we were what whatever when where whether which while who whole whom whose why
will with within without would yes yet you your
"""

#: Words of questions and of any clinical text: their absence from a source says nothing about its subject.
_GENERIC = """
abstract actually address adult affect affected allow amount answer appear apply approach associated association assess
average based basis become beneficial benefit best better big bring care case cause caused causes certain chance
change clear cut clinical clinically come common commonly compare compared comparison consider continue course data day
decline decrease decreased deliver describe despite determine develop difference different difficult drop drug
disease disorder early effect effective effectiveness effects efficacy efficacious establish establish estimate evaluate evidence
examine exist expect experience explain extent fall fast find finding fit follow found frequent frequently general
get give given go good great greater group grow happen harm help helpful high higher hold human identify impact
important improve improved improvement improves increase increased increases indicate individual influence
information investigate involve keep kind know known large last late later lead least left less level likely little
long longer look lose loss lost low lower lowers maintain major man matter mean measure medical medication medicine
meaningful method month name need new number observe observed occur old outcome part participant particular patient
patients people person play poor population possible potential predict present prevent previous prior process produce
protect protective prove proven provide publish question quick raise raises range rate real reason recommend record
reduce reduced reduces reduction resolve resolved related relation relationship relative report require research respond response
result results rise risk role safe safely safety say science see seem seen serious show shown sign significant
significantly similar size slow slows small sort start state strong studies study subject suffer suggest support sure
take taken taking tell term test therapy thing think time today together total treat treated treating treatment trial
trials true try type typical understand use used useful user using usual usually value want way week well widely work
works worse worsen worsens worth year years
"""

#: Groups of words and phrases that say the same in clinical writing; the first of a group names it.
_SYNONYMS = """
kidney|renal|nephropathy|ckd|egfr|albuminuria|dialysis
heart failure|hf|hfpef|hfref|cardiac failure
heart attack|myocardial infarction|mi
stroke|cerebrovascular
heart|cardiac|cardiovascular|cv|coronary|mace|vascular
mace|major adverse cardiovascular|cardiovascular events|cardiovascular event|cardiovascular death
death|mortality|die|died|dying|survival|fatal
side effects|side effect|adverse events|adverse event|adverse effects|adverse reactions|tolerability|unwanted effects
stop|discontinue|discontinued|discontinuation|withdraw|withdrawal|withdrawn|quit|come off|stopped|switched to placebo
weight|bodyweight|body weight|obesity|kg
obesity|obese|overweight|bmi
diabetes|diabetic|t2d|t2dm|glycaemic|glycemic|hba1c
blood sugar|hba1c|glycaemic|glycemic|glucose
blood pressure|systolic|diastolic|hypertension|hypertensive
eye|eyes|retinopathy|retinal|vision|sight|ophthalmic
retinopathy|retinal|eye disease
gut|gastrointestinal|gi|stomach|digestive|bowel
nausea|vomiting|sickness|sick
gallbladder|gallstone|gallstones|cholelithiasis|cholecystitis|biliary
oral|orally|by mouth|pill|pills|tablet|tablets
injection|injected|injectable|subcutaneous|subcutaneously|s.c
waist|abdominal girth
children|child|childhood|paediatric|pediatric|kids
adolescents|adolescent|adolescence|teenagers|teenager|teens|teen|youth|young people
pregnancy|pregnant|gestation|gestational|maternal|fetal|foetal
breast-feeding|breastfeeding|lactation|lactating|nursing mothers
elderly|older adults|older people|aged
alzheimer|alzheimer's
cancer|cancers|tumour|tumor|malignancy|carcinoma|neoplasm|oncologic
liver|hepatic|hepatobiliary
mash|nash|steatohepatitis|fatty liver
cost|costs|price|expensive|economic|cost-effectiveness|qaly|icer
surgery|surgical|operation|bypass|gastrectomy
bariatric|metabolic surgery|gastric bypass|sleeve gastrectomy
depression|depressive|mood
suicide|suicidal|self-injury|self-harm
quality of life|sf-36|well-being|wellbeing|physical functioning
exercise|physical activity|lifestyle
placebo|dummy|sham
real-world|routine care|observational|everyday practice|routine practice|electronic records|electronic health records
meta-analysis|pooled|systematic review
high blood pressure|hypertension
women|woman|female|females|sex|gender
men|man|male|males|sex|gender
durable|durability|long-term|sustained|maintained|maintenance|persist
"""


class Term(Model):
    """A content term of a question: how it was written and every stemmed form that counts as a mention."""

    text: str
    forms: tuple[str, ...]


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """English (Snowball) stem of a lower-case word; a possessive is dropped first."""
    word = re.sub(r"['’]s$", "", word)
    return str(_stemmer().stemWord(word))


def stemmed(text: str) -> str:
    """The text as ` stem stem … `, for finding stemmed words and phrases by substring; hyphens part words."""
    words = _WORD.findall(text.lower())
    return " " + " ".join(stem(part) for word in words for part in word.split("-")) + " "


@lru_cache(maxsize=1)
def _ignored() -> frozenset[str]:
    function = _FUNCTION.split()
    return frozenset(function) | {stem(word) for word in function} | {stem(word) for word in _GENERIC.split()}


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, tuple[str, ...]]:
    """Stemmed phrase → every stemmed phrase of the groups it is in."""
    table: dict[str, dict[str, None]] = {}
    for line in _SYNONYMS.strip().splitlines():
        group = [stemmed(phrase) for phrase in line.split("|")]
        for phrase in group:
            table.setdefault(phrase, {}).update(dict.fromkeys(group))
    return {phrase: tuple(forms) for phrase, forms in table.items()}


def focus_terms(question: str) -> list[Term]:
    """The content terms of a question in the order they stand; known phrases of two or three words first."""
    written = _WORD.findall(question)
    words = [word.lower() for word in written]
    table, terms, seen = _synonyms(), list[Term](), set[str]()
    place = 0
    while place < len(words):
        length = next((n for n in (3, 2) if _phrase(words, place, n) in table), 1)
        form = _phrase(words, place, length)
        known = form in table
        text, shown = (" ".join(group[place : place + length]) for group in (words, written))
        place += length
        skip = not known and (len(text) < 3 or text in _ignored() or form.strip() in _ignored())
        if skip or form in seen or not form.strip():
            continue
        seen.add(form)
        terms.append(Term(text=re.sub(r"['’]s$", "", shown), forms=table.get(form, (form,))))
    return terms


def _phrase(words: list[str], place: int, length: int) -> str:
    part = words[place : place + length]
    return stemmed(" ".join(part)) if len(part) == length else ""


def mentions(term: Term, stemmed_text: str) -> bool:
    """Whether a text given as `stemmed(text)` mentions the term or one of its synonyms."""
    return any(form in stemmed_text for form in term.forms)
