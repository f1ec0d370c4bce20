"""What every `Analyzer` must do, as tests to subclass:

class TestMine(AnalyzerContract):
    def make(self) -> Analyzer:
        return Mine()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from . import Analyzer, pack, term_id, unpack

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


class AnalyzerContract:
    """Subclass it, define `make`, and let pytest collect the subclass."""

    def make(self) -> Analyzer:
        raise NotImplementedError

    def test_it_is_an_analyzer_with_a_name(self) -> None:
        analyzer = self.make()
        assert isinstance(analyzer, Analyzer)
        assert analyzer.name
        assert analyzer.name == self.make().name

    def test_the_same_text_always_gives_the_same_terms(self) -> None:
        first, second = self.make(), self.make()
        for text in TEXTS:
            assert first.terms(text) == first.terms(text) == second.terms(text)

    def test_terms_are_never_empty_strings(self) -> None:
        analyzer = self.make()
        assert all(all(analyzer.terms(text)) for text in TEXTS)

    def test_text_without_words_has_no_terms(self) -> None:
        analyzer = self.make()
        assert analyzer.terms("") == analyzer.terms(" \t\n") == []
        assert analyzer.pack_text("") == b""

    def test_text_with_words_has_terms(self) -> None:
        assert self.make().terms("to be or not to be")

    def test_repeats_are_kept(self) -> None:
        terms = self.make().terms("Lisbon, Porto, Lisbon")
        assert sorted(map(terms.count, terms)) == [1, 2, 2]

    def test_packed_is_the_packing_of_the_terms(self) -> None:
        analyzer = self.make()
        for text in TEXTS:
            assert analyzer.pack_text(text) == pack(analyzer.terms(text))

    def test_packed_ids_rise_and_counts_fit_a_byte(self) -> None:
        analyzer = self.make()
        for text in TEXTS:
            counts = unpack(analyzer.pack_text(text))
            assert list(counts) == sorted({term_id(term) for term in analyzer.terms(text)})
            assert all(1 <= count <= 255 for count in counts.values())

    def test_many_threads_get_the_same_terms(self) -> None:
        analyzer, alone = self.make(), self.make()
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(analyzer.terms, TEXTS * 20))
        assert together == [alone.terms(text) for text in TEXTS] * 20
