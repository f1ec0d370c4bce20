"""The words of questions that ask for a talk and for nothing in it, by language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from ..text.flags import read_words
from ..text.stopwords import STOP_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWords:
    """How a language asks "what did we talk about last time?".

    A question is meant if it has `known` words only and speaks of a talk and of the last one, or if it
    has one of the `turns` of phrase. `news` ask for what is new since a time.
    """

    talk: frozenset[str]
    last: frozenset[str]
    news: frozenset[str]
    we: frozenset[str]
    known: frozenset[str]  # all of these, function words, and words that say nothing of a subject
    turns: re.Pattern[str]


def _make(language: str, *, talk: str, last: str, news: str, we: str, other: str, turns: str) -> TalkWords:
    sets = [read_words(text) for text in (talk, last, news, we)]
    known = STOP_WORDS[language] | read_words(other)
    return TalkWords(
        talk=sets[0],
        last=sets[1],
        news=sets[2],
        we=sets[3],
        known=known.union(*sets),
        turns=re.compile(rf"(?<!\w)(?:{turns})(?!\w)"),
    )


@cache
def talk_words(language: str) -> tuple[TalkWords, ...]:
    """Those of a language, and English ones: many people ask in English, whatever they store."""
    own = _WORDS.get(language)
    if own is None or language == "en":
        return (_make("en", **_WORDS["en"]),)
    return (_make(language, **own), _make("en", **_WORDS["en"]))


_WORDS: Final = {
    "en": {
        "talk": "talk talked talking talks discuss discussed discussing discussion discussions chat chats "
        "chatted chatting speak spoke spoken speaking say said saying tell told mention mentioned "
        "cover covered conversation conversations session sessions happen happened",
        "last": "last latest previous previously recent recently lately",
        "news": "new news",
        "we": "we us our ours",
        "other": "s re ve d ll t time times thing things topic topics subject subjects stuff remind "
        "remember recall recap summary summarise summarize please hey hi hello today leave left "
        "stop stopped end ended finish finished pick continue resume let lets work worked working "
        "one ones give show together exactly quickly briefly bit",
        "turns": r"(?:we|i) (?:leave|left) (?:it |things )?off|where were we|"
        r"what (?:were|was) (?:we|i)(?: just)? (?:doing|up to|saying|discussing|talking about|working on)|"
        r"where (?:did|had) we (?:last )?(?:stop|stopped|end|ended|finish|finished)",
    },
    "de": {
        "talk": "gesprochen besprochen geredet unterhalten diskutiert gesagt erzählt erwähnt reden "
        "redeten sprachen sprechen gespräch gespräche gesprächs unterhaltung sitzung session chat",
        "last": "letzte letzten letztem letzter letztes zuletzt letztens neulich kürzlich vorige vorigen "
        "voriges vorheriges vorherigen",
        "news": "neu neues neue neuigkeiten",
        "we": "wir uns unser unsere unserem unseren unserer",
        "other": "mal male worüber wovon worum ging es gibt gab s bitte erinnere erinner nochmal thema "
        "themen sache sachen hatten habt hattest gerade eben seit fasse fass zusammen waren "
        "stehen geblieben stehengeblieben aufgehört gemacht machten gearbeitet woran",
        "turns": r"wo (?:waren|sind) wir(?: (?:gerade|stehen ?geblieben|geblieben))?$|"
        r"wo (?:haben|hatten) wir(?: zuletzt)? aufgehört|was (?:haben|hatten) wir (?:gerade|zuletzt) gemacht|"
        r"woran (?:haben|hatten) wir(?: zuletzt| gerade)? gearbeitet",
    },
    "fr": {
        "talk": "parlé parler parlait parlions parlons discuté discuter discutions dit disait disions "
        "raconté évoqué abordé conversation conversations discussion discussions séance session",
        "last": "dernière dernier dernières derniers dernièrement récemment précédente précédent",
        "news": "nouveau neuf nouvelles nouveautés",
        "we": "nous on notre nos",
        "other": "fois rappelle rappeler sujet sujets chose choses été étions étais était avions avais "
        "ensemble est t il a y depuis résume résumé arrêtés arrêté faisions faire train lors",
        "turns": r"où en (?:étions|sommes|était|est) (?:nous|on)|où nous (?:étions|sommes) nous arrêtés|"
        r"où s (?:est|était) on arrêtés?|que faisions nous",
    },
    "es": {
        "talk": "hablamos hablado hablar hablábamos conversamos conversado conversación conversaciones "
        "discutimos discutido charlamos charla charlas dije dijiste dijimos dicho comentamos "
        "comentado tratamos sesión",
        "last": "última último últimas últimos anterior recientemente últimamente",
        "news": "nuevo nuevas nueva novedades",
        "we": "nosotros nos nuestra nuestro hablamos conversamos discutimos charlamos dijimos "
        "comentamos tratamos",
        "other": "vez recuérdame recuerda recuerdas cosas cosa tema temas hemos habíamos resume resumen "
        "dejamos quedamos estábamos haciendo trabajando desde",
        "turns": r"(?:dónde|donde) (?:lo |nos )?(?:dejamos|quedamos|estábamos)|en qué (?:nos )?quedamos|"
        r"qué estábamos haciendo|en qué estábamos(?: trabajando)?",
    },
    "it": {
        "talk": "parlato parlavamo parlare discusso discutere discutevamo detto dicevamo raccontato "
        "conversazione conversazioni discussione chiacchierata sessione trattato",
        "last": "ultima ultimo ultime ultimi ultimamente recentemente precedente scorsa",
        "news": "nuovo nuove nuova novità",
        "we": "noi nostra nostro abbiamo avevamo parlavamo discutevamo dicevamo eravamo stavamo",
        "other": "volta cosa cose ricordami ricordi argomento argomenti stati riassumi c dove rimasti "
        "siamo facendo lavorando punto",
        "turns": r"dove (?:eravamo|siamo) rimasti|(?:cosa|che cosa) stavamo (?:facendo|dicendo)|"
        r"a che punto eravamo|dove eravamo|a cosa stavamo lavorando",
    },
    "pt": {
        "talk": "falamos falámos falado falar conversamos conversámos conversado conversa conversas "
        "discutimos discutido disse disseste dissemos dito tratamos tratámos sessão",
        "last": "última último últimas últimos anterior recentemente ultimamente",
        "news": "novo novas nova novidades",
        "we": "nós nos nossa nosso falamos falámos conversamos conversámos discutimos dissemos tratamos "
        "tratámos",
        "other": "vez lembra lembre lembrar coisas coisa assunto assuntos tema temas sobre há resume "
        "resumo onde paramos parámos ficamos ficámos estávamos fazer fazendo trabalhar "
        "trabalhando desde ponto",
        "turns": r"onde (?:é que )?(?:paramos|parámos|ficamos|ficámos|estávamos)|"
        r"em que (?:ponto )?(?:ficamos|ficámos|paramos|parámos)|o que estávamos (?:a fazer|fazendo)",
    },
    "nl": {
        "talk": "gesproken gepraat besproken gezegd verteld praatten spraken bespraken gesprek gesprekken "
        "sessie chat",
        "last": "laatste laatst vorige onlangs recent recentelijk",
        "news": "nieuw nieuws nieuwe",
        "we": "we wij ons onze",
        "other": "keer waarover waar over herinner onderwerp onderwerpen dingen hebben hadden gehad sinds "
        "vat samen gebleven gestopt bezig aan zijn waren",
        "turns": r"waar (?:waren|zijn) we(?: gebleven| gestopt| mee bezig)?$|"
        r"waar (?:hebben|hadden) we het(?: de (?:vorige|laatste) keer)? over(?: gehad)?",
    },
    "ru": {
        "talk": "говорили говорил говорила обсуждали обсудили беседовали разговаривали сказал сказала "
        "сказали разговор разговоре беседа беседе сессия сессии",
        "last": "прошлый прошлом прошлой последний последней последнем недавно",
        "news": "нового новое новости",
        "we": "мы нас наш наша нашем нашей нашего",
        "other": "раз чём чем напомни напомните тема темы тему было остановились делали работали",
        "turns": r"(?:на ч[её]м|где) мы(?: в прошлый раз)? остановились|что мы делали|над чем мы работали",
    },
}
