"""Regular expressions of filters: the answers of `re`, in linear time, or a clear refusal."""

from __future__ import annotations

import re
import time
from random import Random

import pytest

from eidet import BadInput, Condition, Memory, Where
from eidet.core.limits import REGEX_CHARS, REGEX_NODES
from eidet.core.regex import compile_pattern
from eidet.core.regex.automaton import Automaton
from eidet.core.regex.literals import find_required
from eidet.core.regex.syntax import parse_pattern

ATOMS = (
    *(
        "a",
        "b",
        r"\w",
        r"\d",
        r"\s",
        ".",
        "[ab]",
        "[^a]",
        "[]a]",
        r"[\]b]",
        "\n",
        "é",
        "{",
        "{}",
        "{a}",
        r"\.",
    ),
    *(r"\b", r"\B", "^", "$", r"\A", r"\Z", r"\x61", r"\141", r"\N{LATIN SMALL LETTER B}", "(?P<n>a)", "()"),
    *("(?i:A)", "(?-i:a)", "(?m:^)", "(?m:$)", "(?s:.)", r"(?a:\w)", r"(?a:\b)"),
)
REPEATS = ("*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "{,}", "*?", "+?", "{1,2}?", "??")
RUNAWAY = (
    "(a+)+b",
    "(a|a)*b",
    "(a|aa)+$",
    r"(\w+\s?)*x",
    ".*.*.*x",
    "(?:a?){40}a{40}b",
    "(.*)*b",
    "a*b",
    "(a*)*$b",
)


def make_pattern(random: Random, depth: int) -> str:
    kind = random.random()
    if not depth or kind < 0.35:
        return random.choice(ATOMS)
    if kind < 0.6:
        return make_pattern(random, depth - 1) + make_pattern(random, depth - 1)
    if kind < 0.75:
        return f"(?:{make_pattern(random, depth - 1)}|{make_pattern(random, depth - 1)})"
    return f"(?:{make_pattern(random, depth - 1)}){random.choice(REPEATS)}"


@pytest.mark.parametrize("seed", range(8))
def test_patterns_find_what_re_finds(seed: int) -> None:
    random, compared = Random(seed), 0
    while compared < 3000:
        pattern = random.choice(("", "", "(?i)", "(?m)", "(?s)", "(?a)")) + make_pattern(random, 4)
        try:
            known = re.compile(pattern)
        except re.error:
            continue  # a name given twice, or a repeat of a place
        linear = Automaton(parse_pattern(pattern, known.flags)).search
        for _ in range(10):
            value = "".join(random.choice("ab\né _A1") for _ in range(random.randint(1, 9)))
            wanted = known.search(value) is not None
            assert linear(value) is wanted, (pattern, value)
            assert compile_pattern(pattern)(value) is wanted, (pattern, value)
            assert compile_pattern(pattern)("") is (known.search("") is not None), pattern
            compared += 1


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_no_pattern_runs_away(pattern: str) -> None:
    started = time.perf_counter()
    assert compile_pattern(pattern)("a" * 200_000) is (pattern == "(a|aa)+$")
    assert time.perf_counter() - started < 5


def test_steps_that_are_kept_have_an_end() -> None:
    random = Random(1)
    value = "".join(random.choice("ab") for _ in range(20_000))
    search = Automaton(parse_pattern("(a|b)*a(a|b){100}c", 0))
    assert not search.search(value)
    assert search.search(value + "c") is ("a" in value[-101])


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "back reference"),
        (r"(?P<x>a)(?P=x)", "back reference"),
        ("a(?=b)", "look-around"),
        ("a(?!b)", "look-around"),
        ("(?<=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(a)?(?(1)b|c)", "conditions"),
        ("(?>a+)b", "atomic"),
        ("a++b", "possessive"),
        ("(?x) a", "verbose"),
        ("(?x: a)", "verbose"),
        (r"(?u:\w)", "Unicode for a part"),
        ("a(?#note)", "comments"),
        ("(", "is not a regular expression"),
        ("(a?){1,600}b", f"more than {REGEX_NODES} parts"),
        ("(" * 60 + "a*" + ")" * 60, "at most 50 groups"),
        ("a" * (REGEX_CHARS + 1), "at most 10,000 characters"),
    ],
)
def test_what_linear_time_cannot_give_is_refused_with_its_reason(pattern: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        Condition("data.a", "regex", pattern)


def test_long_plain_patterns_need_no_automaton() -> None:
    long = "x" * 5000
    assert compile_pattern(rf"(?is)\A{long}\Z")(long.upper())


@pytest.mark.parametrize("place", [None, "file"])
def test_a_filter_cannot_hang_a_memory(place: str | None, tmp_path: object) -> None:
    where = Where(conditions=(Condition("data.name", "regex", "(a+)+b"),))
    at = None if place is None else f"{tmp_path}/m.db"
    with Memory(at, embedder="hashing:16") as memory:
        memory.remember("one", data={"name": "a" * 50_000}, id="one")
        memory.remember("two", data={"name": "a" * 50_000 + "b"}, id="two")
        started = time.perf_counter()
        assert [record.id for record in memory.find(where)] == ["two"]
        assert [hit.id for hit in memory.recall("two", where=where)] == ["two"]
        assert memory.count(where) == 1
        assert time.perf_counter() - started < 5


REQUIRED = {
    "lis.*porto": "porto",
    "(a+)+b": "b",
    "(a+)+b\\.c": "b.c",
    "(x|y)*ab?c+": "c",
    "^(ab)+$": "ab",
    "a\\d+b c": "b c",
    "(?i)abc.*": "",
    "ab|cd": "",
    "[ab].*": "",
    "(abc)?.*": "",
}


@pytest.mark.parametrize("pattern", REQUIRED)
def test_a_text_that_every_match_has_is_known(pattern: str) -> None:
    tree = parse_pattern(pattern, re.compile(pattern).flags)
    assert find_required(tree) == REQUIRED[pattern]


@pytest.mark.parametrize(
    ("pattern", "value", "found"),
    [
        ("^(a+)+b", "x" * 5_000_000 + "ab", False),
        ("\\A(a+)+b", "aab" + "x" * 5_000_000, True),
        ("(?m)^(a+)+b", "x" * 100 + "\naab", True),
        ("(^|,)(a+)+b", "x" * 100 + ",aab", True),
        ("(a+)+b", "a" * 5_000_000, False),
        ("(a+)+b", "a" * 100 + "b", True),
    ],
)
def test_what_cannot_match_is_known_early(pattern: str, value: str, found: bool) -> None:
    search = compile_pattern(pattern)
    started = time.process_time()
    assert search(value) is found
    assert time.process_time() - started < 0.2  # step by step, five million characters take longer
