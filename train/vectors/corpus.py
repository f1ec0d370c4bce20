"""Reads the sources into English texts, pairs of translations and a dictionary.

    python train/vectors/corpus.py WORK DEVELOPMENT-SETS

Writes WORK/english.json, WORK/pairs.json and WORK/dictionary.json. A text that shares eight words in a row
with a file of the development sets is dropped.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from eidet.models.embed.multi import find_words
from sources import list_repository, read_repository

OTHERS = {"de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por", "nl": "nld"}
FOLDERS = {"pt": ("pt", "pt_BR", "br", "pt-PT", "pt-BR")}  # where a language has other names than its own
SHARED = 8  # words in a row that a training text may not share with a development set
LONG = (60, 250)  # words of a long passage
Pair = tuple[str, str]

_markup = re.compile(r"<[^>]*>|\{[^}]*\}|%[-\d.$]*[a-z]+|\[\[|\]\]|`[^`]*`|https?://\S+|[\\*#>|~]")
_link = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_senses = re.compile(r"^\d+\.\s*|<[^>]*>|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|\"[^\"]*\"")


def clean(text: str) -> str:
    text = _link.sub(r"\1", text)
    return " ".join(_markup.sub(" ", text.replace("&", "").replace("_", "")).split())


def is_prose(text: str, least: int = 2, most: int = 120) -> bool:
    letters = sum(one.isalpha() or one == " " for one in text)
    return least <= len(text.split()) <= most and letters > 0.8 * len(text)


# Pairs: English, and the same in another language


def read_tatoeba(work: Path, language: str) -> Iterator[Pair]:
    zipped = {"de": "rioyshky/translation", "fr": "modelexlab/data", "es": "Hoangduc212001/hoang"}
    if language in zipped:
        code = OTHERS[language]
        archive = zipfile.ZipFile(io.BytesIO(read_repository(work, zipped[language], f"{code}-eng.zip")))
        [name] = [one for one in archive.namelist() if re.fullmatch(rf"(\w[\w-]*/)?{code}\.txt", one)]
        content = archive.read(name)
    elif language == "nl":
        content = read_repository(work, "devcem/NMT-seq2seq-with-pytorch", "data/eng-nld.txt")
    else:
        return
    for line in content.decode().splitlines():
        english, other = line.split("\t")[:2]
        yield english, other


def read_messages(work: Path, language: str) -> Iterator[Pair]:
    """The catalogues of programs and games: message and translation."""
    for folder in FOLDERS.get(language, (language,)):
        for path in sorted((work / "unpacked").rglob(f"{folder}/LC_MESSAGES/*.mo")):
            yield from _parse_catalogue(path.read_bytes())


def _parse_catalogue(content: bytes) -> Iterator[Pair]:
    form = "<" if content[:4] == b"\xde\x12\x04\x95" else ">"
    _, _, count, keys, values = struct.unpack(f"{form}5I", content[:20])
    for at in range(count):
        key, value = (
            content[start : start + size].split(b"\0")[0].split(b"\4")[-1].decode(errors="replace")
            for size, start in (
                struct.unpack_from(f"{form}2I", content, table + 8 * at) for table in (keys, values)
            )
        )
        if key and value and key != value:
            yield clean(key), clean(value)


def read_pages(work: Path, language: str) -> Iterator[Pair]:
    """Help pages, whose paragraphs stand in the same order in every language."""
    pages = work / "unpacked" / "gnome-user-docs/usr/share/help"
    for path in sorted((pages / "C").rglob("*.page")):
        for folder in FOLDERS.get(language, (language,)):
            other = pages / folder / path.relative_to(pages / "C")
            if other.is_file():
                yield from _align(_read_page(path), _read_page(other))


def _read_page(path: Path) -> list[str]:
    parts = re.findall(r"<(?:p|title)\b[^>]*>(.*?)</(?:p|title)>", path.read_text(), re.DOTALL)
    return [clean(part) for part in parts]


def read_lessons(work: Path, language: str) -> Iterator[Pair]:
    """Lessons in Markdown that were translated line by line."""
    for name in ("microsoft/IoT-For-Beginners", "microsoft/Data-Science-For-Beginners"):
        for path in list_repository(work, name, "translations/en/"):
            if path.endswith(".md"):
                english = _read_lesson(read_repository(work, name, path))
                for folder in FOLDERS.get(language, (language,)):
                    other = path.replace("/en/", f"/{folder}/")
                    if other in set(list_repository(work, name, other)):
                        yield from _align(english, _read_lesson(read_repository(work, name, other)))


def _read_lesson(content: bytes) -> list[str]:
    text = re.sub(r"<!--.*?-->", "", content.decode(), flags=re.DOTALL)
    text = re.sub(r"```.*?```", "\n", text, flags=re.DOTALL)
    return [clean(line) for line in text.splitlines() if clean(line)]


def _align(english: list[str], other: list[str]) -> Iterator[Pair]:
    if len(english) == len(other):
        yield from (pair for pair in zip(english, other, strict=True) if pair[0] != pair[1])


def read_emoji(work: Path, language: str) -> Iterator[Pair]:
    folder = work / "unpacked/cldr-annotations-full/package/annotations"
    english, other = (
        json.loads((folder / code / "annotations.json").read_text())["annotations"]["annotations"]
        for code in ("en", language)
    )
    for sign in english.keys() & other.keys():
        for part in ("tts", "default"):
            yield " ".join(english[sign].get(part, ())), " ".join(other[sign].get(part, ()))


# English texts that the teacher reads


def read_english(work: Path, pairs: dict[str, list[Pair]], draw: random.Random) -> Iterator[str]:
    for language, count in (("de", 22_000), ("fr", 22_000), ("es", 14_000), ("it", 14_000), ("pt", 8_000)):
        yield from draw.sample([english for english, _ in pairs[language]], count)
    yield from _draw(draw, _read_glosses(work), 22_000)
    yield from _draw(draw, _read_articles(work), 9_000)
    dialogues = list(_read_dialogues(work))
    yield from _draw(draw, [turn for turns in dialogues for turn in turns], 20_000)
    yield from _draw(draw, [passage for turns in dialogues for passage in join(turns)], 7_000)
    yield from _draw(draw, [passage for lines in _read_documents(work) for passage in join(lines)], 7_000)


def _draw(draw: random.Random, texts: Iterable[str], count: int) -> list[str]:
    known = sorted({text for text in texts if is_prose(text, 2, LONG[1])})
    return draw.sample(known, min(count, len(known)))


def join(lines: list[str]) -> Iterator[str]:
    """Passages of neighbouring lines, of all lengths between the bounds."""
    held: list[str] = []
    for at, line in enumerate(lines):
        held.append(line)
        size = sum(len(one.split()) for one in held)
        if size >= LONG[0] + 37 * at % (LONG[1] - LONG[0]):
            yield " ".join(" ".join(held).split()[: LONG[1]])
            held = []


def _read_glosses(work: Path) -> Iterator[str]:
    for path in sorted((work / "unpacked/wordnet-base/usr/share/wordnet").glob("data.*")):
        for line in path.read_text().splitlines():
            if not line.startswith(" ") and "|" in line:
                words = line.split()
                names = [words[4 + 2 * at].replace("_", " ") for at in range(int(words[3], 16))]
                yield f"{', '.join(names[:3])}: {line.partition('|')[2].strip()}"


def _read_articles(work: Path) -> Iterator[str]:
    for name in ("validation.tsv", "test.tsv", "tune.tsv"):
        for line in read_repository(work, "google-research-datasets/wiki-split", name).decode().splitlines():
            yield line.split("\t")[0].replace("''", "").replace(" ,", ",").replace(" .", ".")


def _read_dialogues(work: Path) -> Iterator[list[str]]:
    name = "google-research-datasets/dstc8-schema-guided-dialogue"
    for at in range(1, 37):
        for dialogue in json.loads(read_repository(work, name, f"train/dialogues_{at:03}.json")):
            yield [turn["utterance"] for turn in dialogue["turns"]]


def _read_documents(work: Path) -> Iterator[list[str]]:
    for name in ("microsoft/IoT-For-Beginners", "microsoft/Data-Science-For-Beginners"):
        for path in list_repository(work, name, "translations/en/"):
            if path.endswith(".md"):
                yield _read_lesson(read_repository(work, name, path))
    for path in sorted((work / "unpacked/gnome-user-docs/usr/share/help/C").rglob("*.page")):
        yield _read_page(path)


# Words


def read_dictionary(work: Path, language: str) -> dict[str, list[str]]:
    """English words for words of another language, from dictionaries and wordnets."""
    found: dict[str, list[str]] = defaultdict(list)
    code = OTHERS[language]
    for way, turned in ((f"{code}-eng", False), (f"eng-{code}", True)):
        for word, senses in _read_freedict(work, way):
            for sense in senses:
                foreign, english = (sense, word) if turned else (word, sense)
                found[" ".join(find_words(foreign))].append(english.lower())
    for word, english in _read_wordnet(work, language):
        found[" ".join(find_words(word))].append(english)
    return {word: senses for word, senses in found.items() if word and " " not in word}


def _read_freedict(work: Path, way: str) -> Iterator[tuple[str, list[str]]]:
    [path] = (work / "unpacked" / f"dict-freedict-{way}").rglob("*.dict.dz")
    word, senses = "", list[str]()
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        if head := re.match(r"(\S[^/<]*?)\s+/.*/|(\S[^/<]*?)\s+<", line):
            yield word, senses
            word, senses = head[1] or head[2], []
        elif "see:" not in line and word:
            parts = (part.strip() for part in re.split(r"[,;]", _senses.sub("", line.strip())))
            senses += [part for part in parts if part and len(part.split()) <= 3]
    yield word, senses


def _read_wordnet(work: Path, language: str) -> Iterator[Pair]:
    paths = {
        "fr": "wns/fra/wn-data-fra.tab",
        "it": "wns/ita/wn-data-ita.tab",
        "pt": "wns/por/wn-data-por.tab",
        "nl": "wns/nld/wn-data-nld.tab",
    }
    if language not in paths:
        return
    english = _read_synsets(work)
    for line in read_repository(work, "omwn/omw-data", paths[language]).decode().splitlines():
        synset, kind, word = (*line.split("\t"), "", "")[:3]
        if kind.endswith("lemma"):
            yield from ((word, one) for one in english.get(synset, ())[:3])


def _read_synsets(work: Path) -> dict[str, list[str]]:
    found = {}
    for path in (work / "unpacked/wordnet-base/usr/share/wordnet").glob("data.*"):
        for line in path.read_text().splitlines():
            if not line.startswith(" "):
                parts = line.split()
                kind = "a" if parts[2] == "s" else parts[2]
                words = [parts[4 + 2 * at].replace("_", " ").lower() for at in range(int(parts[3], 16))]
                found[f"{parts[0]}-{kind}"] = words
    return found


# Nothing of the development sets


def read_shingles(folder: Path) -> set[int]:
    """Hashes of every eight words in a row of the development sets."""
    found: set[int] = set()
    for path in sorted(folder.iterdir()):
        if path.suffix in (".gz", ".json", ".jsonl"):
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            whole = content.decode().strip()
            for line in whole.split("\n") if ".jsonl" in path.name else [whole]:
                for text in _find_texts(json.loads(line)):
                    found.update(shingle(text))
    return found


def _find_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _find_texts(part)


def shingle(text: str) -> Iterator[int]:
    words = find_words(text)
    yield from (hash(tuple(words[at : at + SHARED])) for at in range(len(words) - SHARED + 1))


def main(work: Path, sets: Path) -> None:
    draw, forbidden = random.Random(7), read_shingles(sets)
    pairs: dict[str, list[Pair]] = {}
    dropped = 0
    for language in OTHERS:
        readers = (read_tatoeba, read_messages, read_pages, read_lessons, read_emoji)
        for reader in readers:
            kept = {pair for pair in reader(work, language) if all(map(is_prose, pair))}
            clear = sorted(pair for pair in kept if forbidden.isdisjoint(shingle(pair[0])))
            dropped += len(kept) - len(clear)
            pairs.setdefault(language, []).extend(clear)
            print(language, reader.__name__, len(clear), draw.choice(clear or [("", "")]), flush=True)
        draw.shuffle(pairs[language])
    texts = sorted(set(read_english(work, pairs, draw)))
    english = [text for text in texts if forbidden.isdisjoint(shingle(text))]
    draw.shuffle(english)
    print("english", len(english), "dropped", dropped + len(texts) - len(english))
    (work / "english.json").write_text(json.dumps(english))
    (work / "pairs.json").write_text(json.dumps(pairs))
    words = {language: read_dictionary(work, language) for language in OTHERS}
    print("dictionary", {language: len(found) for language, found in words.items()})
    (work / "dictionary.json").write_text(json.dumps(words))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
