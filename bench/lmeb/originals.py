"""LoCoMo, REALTALK, KnowMeBench and TMD from a folder of their original files, as LMEB counts them.

LMEB asks each question of one conversation, or of one life, and counts each category by itself. Adversarial
questions count: their gold is the turn that is twisted.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_KINDS = {1: "multi_hop", 2: "temporal_reasoning", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
_OF_FRIENDS = {1: "multi_hop", 2: "temporal_reasoning", 3: "commonsense"}
_SPOKEN = "%I:%M:%S %p on %A %d %B, %Y"
_PARTS_OF_EVENTS = ("action", "Environment", "dialogue", "Background", "Mind")
_WITHOUT_EVIDENCE = ("Expert-Annotated", "Logical")  # tasks of KnowMeBench that LMEB leaves out


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One memory. `when` and `occurred` are the same time, as the file writes it and as a number."""

    id: str
    text: str
    who: str | None = None
    session: str | None = None
    when: str = ""
    occurred: datetime | None = None

    def as_text(self) -> str:
        """The time, the speaker and what was said in one text, as an embedding model gets it."""
        said = f"{self.who}: {self.text}" if self.who else self.text
        return f"[{self.when}] {said}" if self.when else said


@dataclass(frozen=True, kw_only=True)
class Asked:
    text: str
    category: str
    gold: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Haystack:
    """What one user remembers, and what is asked about it."""

    name: str
    turns: tuple[Turn, ...]
    asked: tuple[Asked, ...]


def read_sets(folder: Path) -> dict[str, list[Haystack]]:
    """The sets that a folder has, by name."""
    found = {name: list(read(folder)) for name, read in READERS.items()}
    return {name: haystacks for name, haystacks in found.items() if haystacks}


def read_locomo(folder: Path) -> Iterator[Haystack]:
    """`locomo*.json`: a list of conversations (snap-research/locomo, data/locomo10.json)."""
    for file in sorted(folder.rglob("locomo*.json")):
        for sample in _load(file):
            talk = sample["conversation"]
            turns = tuple(_list_turns(talk, "text"))
            yield _ask(f"{file.stem}-{sample.get('sample_id', '')}", turns, sample["qa"], _KINDS)


def read_realtalk(folder: Path) -> Iterator[Haystack]:
    """`Chat_*.json` (danny911kr/REALTALK, data)."""
    for file in sorted(folder.rglob("Chat_*.json")):
        chat = _load(file)
        if "session_1" in chat and "clean_text" in chat["session_1"][0]:
            turns = tuple(_list_turns(chat, "clean_text"))
            yield _ask(file.stem, turns, chat["qa"], _OF_FRIENDS)


def read_tmd(folder: Path) -> Iterator[Haystack]:
    """`ConversationData` and `TestData` (Zyphra/TemporalMemoryDataset), without ambiguous questions.

    Or `tmd-*.jsonl.gz`, one memory a line in the format of `eidet eval`, with the category as `sub`.
    """
    tests = sorted(folder.rglob("TestData/time_qs/*.json")) + sorted(folder.rglob("content_time_qs.json"))
    for file in sorted(folder.rglob("ConversationData/*.json")):
        turns = tuple(_list_turns(_load(file), "text"))
        ids = [turn.id for turn in turns]
        asked = []
        for test in tests:
            category = test.stem.removeprefix("test_").removesuffix("_time_qs") + "_time_qs"
            for one in _load(test).get(f"file_{file.stem}", ()):
                gold = frozenset(ids[at] for at in one["relevant_docs"])
                asked.append(Asked(text=one["questions"][0], category=category, gold=gold))
        yield Haystack(name=f"tmd-{file.stem}", turns=turns, asked=tuple(asked))
    for file in sorted(folder.rglob("tmd-*.jsonl.gz")):
        if "ambiguous" not in file.name:
            yield from map(_read_world, gzip.decompress(file.read_bytes()).decode().splitlines())


def read_knowme(folder: Path) -> Iterator[Haystack]:
    """`dataset*/input`, `question` and `answer` (QuantaAlpha/KnowMeBench)."""
    for file in sorted(folder.rglob("dataset*/input/dataset*.json")):
        life, asked = file.parents[1], []
        turns = tuple(_read_event(event) for event in _load(file))
        known = {turn.id for turn in turns}
        for questions in sorted((life / "question").glob("*.json")):
            task = questions.stem.rpartition("_")[0]
            answer = next((life / "answer").glob(f"{task}_*.json"))
            evidence = {one["id"]: one.get("evidence") for one in _load(answer)}
            category = f"{life.name}__{task.lower().replace(' ', '_')}"
            for one in () if task.startswith(_WITHOUT_EVIDENCE) else _load(questions):
                gold = known.intersection(re.findall(r"\d+", str(evidence.get(one["id"]))))
                asked.append(Asked(text=one["question"], category=category, gold=frozenset(gold)))
        yield Haystack(name=life.name, turns=turns, asked=tuple(one for one in asked if one.gold))


def _load(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _list_turns(talk: Mapping[str, Any], field: str) -> Iterator[Turn]:
    numbers = sorted(int(found[1]) for name in talk if (found := _SESSION.fullmatch(name)))
    for session in (f"session_{number}" for number in numbers):
        for at, turn in enumerate(talk[session]):
            when = turn.get("date_time") or talk[f"{session}_date_time"]
            yield Turn(
                id=turn["dia_id"],
                text=_tell(turn, field),
                who=turn["speaker"],
                session=session,
                when=when,
                occurred=_read_time(when, at),
            )


def _tell(turn: Mapping[str, Any], field: str) -> str:
    seen = turn.get("blip_caption")
    return f"{turn[field]} [shares an image: {seen}]".lstrip() if seen else turn[field]


def _read_time(text: str, at: int) -> datetime:
    """One of the three ways in which these sets write a time; turns of one minute keep their order."""
    for form in ("%I:%M %p on %d %B, %Y", _SPOKEN, "%d.%m.%Y, %H:%M:%S"):
        try:
            read = datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return read if "%S" in form else read.replace(second=min(at, 59), microsecond=at)
    raise ValueError(f"unknown form of time: {text!r}")


def _ask(
    name: str, turns: tuple[Turn, ...], questions: Iterable[Mapping[str, Any]], kinds: Mapping[int, str]
) -> Haystack:
    """Questions whose evidence is among the turns; marks such as "D8:6; D9:17" and "D:11:26" are repaired."""
    known, asked = {turn.id for turn in turns}, []
    for one in questions:
        marks = _TURN.findall(" ".join(one["evidence"]))
        gold = known.intersection(f"D{int(session)}:{int(turn)}" for session, turn in marks)
        if gold and one["category"] in kinds:
            category = kinds[one["category"]]
            asked.append(Asked(text=one["question"], category=category, gold=frozenset(gold)))
    return Haystack(name=name, turns=turns, asked=tuple(asked))


def _read_event(event: Mapping[str, Any]) -> Turn:
    told = " ".join(str(event[part]) for part in _PARTS_OF_EVENTS if event.get(part))
    when = event["timestamp"] or ""
    at = datetime.fromisoformat(when).replace(tzinfo=UTC) if when else None
    return Turn(id=str(event["id"]), text=f"[{event['location']}] {told}", when=when, occurred=at)


def _read_world(line: str) -> Haystack:
    world = json.loads(line)
    turns = tuple(
        Turn(
            id=one["id"],
            text=one["text"],
            who=one["who"],
            session=one["session"],
            when=f"{datetime.fromisoformat(one['occurred']):{_SPOKEN}}",
            occurred=datetime.fromisoformat(one["occurred"]),
        )
        for one in world["records"]
    )
    asked = tuple(
        Asked(
            text=one["q"],
            category=f"{one['sub'].removesuffix('_time_qs')}_time_qs",
            gold=frozenset(one["gold"]),
        )
        for one in world["questions"]
        if one["gold"]
    )
    return Haystack(name=world["world"], turns=turns, asked=asked)


READERS: dict[str, Callable[[Path], Iterator[Haystack]]] = {
    "LoCoMo": read_locomo,
    "REALTALK": read_realtalk,
    "KnowMeBench": read_knowme,
    "TMD": read_tmd,
}
