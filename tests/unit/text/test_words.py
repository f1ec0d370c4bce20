"""What text becomes which terms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eidet.core.errors import BadInput
from eidet.text import Analyzer, analyzer_of, pack, term_id, unpack
from eidet.text.words import LANGUAGES, STOP_WORDS, Memo, WordAnalyzer, tokens

TEXTS = (
    "",
    " \t\n",
    "...!?",
    "Ann lives in Lisbon, and Ann's sister lives in Porto.",
    "to be or not to be",
    "INV-2291 was paid on 2023-05-08 (1,200.50 EUR) by ann.smith@acme.com",
    "Der Mann fährt über die Straße; l'homme est à Paris; ¿dónde está el año?",
    "我在Lisbon住。東京タワー 서울에 살아요 ภาษาไทย",
    "Привет, ёлка! مُحَمَّد שָׁלוֹם हिन्दी தமிழ்",
    "👨‍👩‍👧 👍🏽 🇵🇹 ❤️ 1️⃣",
    "e\u0301 \u0301 \u200d \ufe0f \x00 \x7f \ud800 \U0010ffff ﬁ Ⅷ ²",
    "x" * 10_000,
    "a-" * 5_000,
    "word " * 1_000,
)


@pytest.mark.parametrize("language", ["en", "french", "none"])
def test_every_analyzer_gives_the_same_terms_each_time_and_on_many_threads(language: str) -> None:
    first, second = WordAnalyzer(language), WordAnalyzer(language)
    assert isinstance(first, Analyzer)
    assert first.name == second.name != ""
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(first.terms, TEXTS * 20))
    assert together == [second.terms(text) for text in TEXTS] * 20
    assert all(all(terms) for terms in together)


@pytest.mark.parametrize("language", ["en", "french", "none"])
def test_texts_without_words_alone_have_no_terms_and_repeats_are_kept(language: str) -> None:
    analyzer = WordAnalyzer(language)
    assert analyzer.terms("") == analyzer.terms(" \t\n") == []
    assert analyzer.terms("to be or not to be")
    terms = analyzer.terms("Lisbon, Porto, Lisbon")
    assert sorted(map(terms.count, terms)) == [1, 2, 2]


@pytest.mark.parametrize("language", ["en", "french", "none"])
def test_packed_terms_have_ids_that_rise_and_counts_that_fit_a_byte(language: str) -> None:
    analyzer = WordAnalyzer(language)
    for text in TEXTS:
        packed = analyzer.pack_text(text)
        assert packed == pack(analyzer.terms(text))
        assert list(unpack(packed)) == sorted({term_id(term) for term in analyzer.terms(text)})
        assert all(1 <= count <= 255 for count in unpack(packed).values())


def terms(text: str, language: str = "en") -> list[str]:
    return analyzer_of(language).terms(text)


def test_terms_are_stems_in_text_order_with_repeats() -> None:
    assert terms("Ann lives where Bob lived, in Lisbon") == ["ann", "live", "bob", "live", "lisbon"]


@given(st.text("abcXYZ019 ", max_size=40))
def test_a_text_without_signs_has_the_words_that_it_has_with_one(text: str) -> None:
    assert tokens(text) == tokens(f"{text} !")


def test_possessives_and_contractions_vanish() -> None:
    assert terms("Ann's dog won't eat what we've cooked") == ["ann", "dog", "eat", "cook"]
    assert terms("Ann\u2019s dog won\u2019t eat") == terms("Ann's dog won't eat")


def test_names_with_an_apostrophe_are_found_by_their_parts() -> None:
    assert terms("O'Brien") == ["o", "brien"]


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    assert terms("to be or not to be") == ["to", "be", "or", "not", "to", "be"]
    assert terms("The Who") == ["the", "who"]


def test_months_and_numbers_are_kept() -> None:
    assert terms("in May 2023") == ["may", "2023"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("INV-2291", ["inv", "2291", "inv2291"]),
        ("v1.2.3", ["v1", "2", "3", "v123"]),
        ("gpt-4o", ["gpt", "4o", "gpt4o"]),
        ("1,200", ["1", "200", "1200"]),
        ("U.S.A.", ["usa"]),
        ("the U.S. army", ["us", "armi"]),
        ("well-known", ["well", "known"]),
        ("snake_case", ["snake", "case"]),
        ("ann.smith@acme.com", ["ann", "smith", "acm", "com"]),
    ],
)
def test_codes_are_found_by_part_and_as_a_whole(code: str, found: list[str]) -> None:
    assert terms(code) == found


def test_a_code_written_without_its_hyphen_still_meets_it() -> None:
    assert set(terms("INV2291")) <= set(terms("see INV-2291"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("cafe\u0301", "café"),
        ("résumés", "resume"),
        ("Straße", "STRASSE"),
        ("smørrebrød", "smorrebrod"),
        ("İstanbul", "istanbul"),
        ("ﬁne", "fine"),
        ("Ｌｉｓｂｏｎ", "lisbon"),
        ("ёлка", "елка"),
        ("co\u00adoperate", "cooperate"),
        ("👍🏽", "👍"),
    ],
)
def test_spellings_that_look_alike_meet(one: str, other: str) -> None:
    assert terms(one) == terms(other)


def test_accents_are_folded_after_stemming_where_the_stemmer_reads_them() -> None:
    assert terms("mangé", "fr") == terms("manger", "fr")


def test_scripts_without_spaces_give_character_pairs() -> None:
    assert terms("我在Lisbon住") == ["我在", "lisbon", "住"]
    assert terms("東京タワー") == ["東京", "京タ", "タワ", "ワー"]
    assert terms("서울에 살아요") == ["서울", "울에", "살아", "아요"]
    assert terms("ไทย") == ["ไท", "ทย"]


def test_voiced_kana_are_not_folded() -> None:
    assert terms("が") != terms("か")


def test_semitic_points_are_dropped_and_indic_vowels_kept() -> None:
    assert terms("שָׁלוֹם") == ["שלום"]
    assert terms("مُحَمَّد") == ["محمد"]
    assert terms("हिन्दी", "none") == ["हिन्दी"]
    assert terms("தமிழ்", "none") == ["தமிழ்"]


def test_cyrillic_letters_with_a_breve_stay_letters() -> None:
    assert terms("йод", "none") == ["йод"]


def test_each_emoji_is_a_term_and_a_flag_is_one() -> None:
    assert terms("fun 👍👍 🇵🇹 ❤️") == ["fun", "👍", "👍", "🇵🇹", "❤"]
    assert terms("👨‍👩‍👧") == ["👨", "👩", "👧"]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("de", "Wo ist das Haus meiner Mutter?", ["haus", "mein", "mutt"]),
        ("fr", "l'homme qu'elle a vu", ["homm", "vu"]),
        ("es", "¿Dónde está la casa?", ["cas"]),
        ("it", "dov'è l'amica di Anna", ["dov", "amic", "anna"]),
        ("ru", "где мои книги", ["книг"]),
        ("none", "The houses", ["the", "houses"]),
        ("zh", "猫很大", ["猫很", "很大"]),
    ],
)
def test_languages_have_their_own_stems_and_stop_words(language: str, text: str, found: list[str]) -> None:
    assert terms(text, language) == found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_analyses_every_text(language: str) -> None:
    analyzer = analyzer_of(language)
    for text in ("Lisbon 2023 café", "книга", "我在住", "हिन्दी", "Γειά σου", "աշխարհ"):
        assert analyzer.terms(text)
        assert analyzer.pack_text(text) == pack(analyzer.terms(text))


def test_code_and_name_of_a_language_share_one_analyzer() -> None:
    assert analyzer_of("en") is analyzer_of("English") is analyzer_of()


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"'klingon'; there are ar, .*en, .*none"):
        analyzer_of("klingon")


def test_the_name_tells_language_and_stemmer() -> None:
    names = {analyzer_of(language).name for language in LANGUAGES}
    assert len(names) == len(LANGUAGES)
    assert analyzer_of("none").name == "words/2 none"
    assert analyzer_of("en").name.startswith("words/2 en snowball/")


def test_stop_words_are_written_as_tokens_come_out() -> None:
    for code, words in STOP_WORDS.items():
        assert code in LANGUAGES
        assert all(tokens(word) == [word] for word in words)


def test_few_words_are_remembered_and_no_long_ones() -> None:
    memo = Memo(len)
    for number in range(Memo.most + 10):
        assert memo[str(number)] == len(str(number))
    held = len(memo)
    assert memo["x" * 1000] == 1000
    assert len(memo) == held <= Memo.most
