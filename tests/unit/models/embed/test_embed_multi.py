from __future__ import annotations

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import eidet
from eidet import Memory
from eidet.core.errors import BadInput, Misconfigured
from eidet.eval import read_cases
from eidet.models.contract import ODD, TEXTS
from eidet.models.embed import embedder_of
from eidet.models.embed.multi import VERSION, EidetMulti, find_words

ROOT = Path(__file__).parents[4]
ROWS = "f67bb1964e673a167b915daf004e0112895eaebf17e2cb063f50ec31d793da0d"
SAID = [
    "Ann lives in Lisbon",
    "Die Werkstatt öffnet um neun.",
    "Où est la clé de rechange ?",
    "naïve 4821-B",
    "Krankenhausrechnung recieved",
]


def test_rows_are_the_same_on_every_machine() -> None:
    assert sha256(EidetMulti().embed(SAID).astype("<f4").tobytes()).hexdigest() == ROWS


def test_rows_are_of_length_one_and_a_text_in_an_unknown_script_is_zero() -> None:
    rows = EidetMulti().embed(["Ann lives in Lisbon", "", "日本に住んでいます", "Привет", "!?"])
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-6)
    assert not rows[1:].any()


def test_an_unknown_script_is_found_by_its_words_and_the_answer_says_so() -> None:
    with Memory(embedder="eidet-multi") as memory:
        memory.remember(["Собака спит в саду.", "日本に住んでいます", "The dog sleeps in the garden."])
        hits = memory.recall("собака", explain=True)
        assert (hits[0].text, hits[0].why()) == ("Собака спит в саду.", "has собака")
        assert not any("similar" in hit.why() or "meaning" in hit.why() for hit in hits)
        assert hits.trace is not None
        assert (
            "the embedder knows no word of the query: it was searched for by its words alone"
            in hits.trace.notes
        )
        known = memory.recall("dog", explain=True).trace
        assert known is not None
        assert known.notes == ()


def test_a_memory_moves_to_this_table_while_it_is_open(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes.db") as memory:
        memory.remember(["Der Ersatzschlüssel liegt unter dem Blumentopf.", "Der Zug fährt um acht."])
        memory.admin.reembed("eidet-multi")
        assert memory.recall("Where is the spare key?")[0].text.startswith("Der Ersatzschlüssel")
    with Memory(tmp_path / "notes.db") as memory:
        assert memory.parts.embedder.name == f"eidet-multi:{VERSION}"


def test_a_row_is_the_same_to_the_bit_alone_and_in_company() -> None:
    embedder, texts = EidetMulti(), [*TEXTS, *ODD, *SAID]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_array_equal(embedder.embed(texts), alone)


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        ("a cat sat on a mat", "the kitten is lying on the rug", "quarterly tax filing"),
        ("Where is the key?", "Der Schlüssel liegt unter der Matte", "Der Hund schläft im Garten"),
        ("Où est la clé ?", "The key is under the mat", "The dog sleeps in the garden"),
        ("¿Dónde trabaja mi hermano?", "Mio fratello lavora in un ospedale", "Il treno parte alle otto"),
        ("Waar is de sleutel?", "A chave está debaixo do tapete", "O cão dorme no jardim"),
        ("hospital bill", "Krankenhausrechnung", "Gartenschlauch"),
        ("I recieved the pacakge", "the package has been received", "the concert was cancelled"),
        ("tracking number 88412", "parcel 88412 is on its way", "parcel 31790 is on its way"),
        ("Zbigniewska called", "a message for Zbigniewska", "a message for Ramanathan"),
    ],
)
def test_meaning_is_near_across_words_languages_and_slips(asked: str, right: str, wrong: str) -> None:
    rows = EidetMulti().embed([asked, right, wrong])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1


@pytest.mark.parametrize(
    ("one", "other"), [("Café Müller", "cafe muller"), ("GROSSE Straße", "große strasse")]
)
def test_case_and_accents_make_no_difference(one: str, other: str) -> None:
    rows = EidetMulti().embed([one, other])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_a_word_that_is_repeated_does_not_drown_the_others() -> None:
    rows = EidetMulti().embed(["garden key", "garden " * 16 + "key " * 16, "garden " * 16 + "key"])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)
    assert rows[0] @ rows[2] > 0.8


def test_words_of_a_text() -> None:
    assert find_words("L'été à Køln, 12.5 kg; 東京 naïve") == [
        "l",
        "ete",
        "a",
        "koln",
        "12",
        "5",
        "kg",
        "naive",
    ]


@pytest.mark.parametrize("text", ["lorem ipsum dolor " * 60_000, "x" * 100_000], ids=["words", "one word"])
def test_a_very_long_text_is_embedded(text: str) -> None:
    [row] = EidetMulti().embed([text])
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_what_is_no_text_or_no_version_of_the_table_is_named() -> None:
    with pytest.raises(BadInput, match="needs a string, not int"):
        EidetMulti().embed([5])  # type: ignore[list-item]
    with pytest.raises(Misconfigured, match="version '1' of the embedder eidet-multi, not '7'"):
        embedder_of("eidet-multi:7")


def test_the_vocabulary_gives_common_words_first_each_with_its_own_vector() -> None:
    embedder = EidetMulti()
    known = dict(embedder.vocabulary())
    assert {"the", "und", "les"} < set(list(known)[:200])
    [row] = embedder.embed(["garden"])
    np.testing.assert_allclose(known["garden"] / np.linalg.norm(known["garden"]), row, atol=1e-6)


def test_questions_in_one_language_find_notes_in_another() -> None:
    right = asked = 0
    for case in read_cases(ROOT / "bench" / "languages.jsonl"):
        ids, rows = (
            [one.id for one in case.records],
            EidetMulti().embed([one.text or "" for one in case.records]),
        )
        for question in case.questions:
            asked += 1
            right += ids[int(np.argmax(rows @ EidetMulti().embed([question.text])[0]))] in question.gold
    assert asked >= 300
    assert right / asked >= 0.5


def test_a_damaged_table_is_named_with_what_mends_it(tmp_path: Path) -> None:
    package = tmp_path / "eidet"
    shutil.copytree(Path(eidet.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    table = package / "models" / "embed" / "multi.npz"
    table.write_bytes(table.read_bytes()[:-1000])
    code = "from eidet.models.embed import embedder_of; embedder_of('eidet-multi').embed(['hello'])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert "Corrupt: the table of eidet-multi cannot be read" in ran.stderr
    assert "reinstall eidet" in ran.stderr


def test_loading_it_imports_no_tokenizer() -> None:
    code = (
        "import sys; from eidet.models.embed import embedder_of; embedder_of('eidet-multi').embed(['hello']);"
        "assert not {'tokenizers', 'safetensors', 'wordllama'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
