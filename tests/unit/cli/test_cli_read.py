from __future__ import annotations

import pytest
from tests.unit.cli.shell import Shell


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon", "--id", "ann", "--occurred", "2026-01-01T00:00:00+00:00")
    eidet("remember", "Bob drinks tea", "--id", "bob", "--who", "Bob", "--session", "s1", "--kind", "episode")
    eidet("remember", "Cleo plays chess in Lisbon", "--scope", "default/club", "--agent", "a1")
    return eidet


def test_recall_shows_score_text_time_and_reasons(filled: Shell) -> None:
    out = " ".join(filled("recall", "who lives in Lisbon?", "--limit", "1").out.split())
    for part in (
        "Ann lives in Lisbon",
        "2026-01-01",
        "lives, lisbon",
        "close in meaning",
    ):
        assert part in out
    assert "Bob" not in out


def test_recall_in_json_has_signals_and_no_vectors(filled: Shell) -> None:
    said = filled("recall", "who lives in Lisbon?", "--json").json
    best = said["hits"][0]
    assert (best["record"]["id"], said["query"]) == ("ann", "who lives in Lisbon?")
    assert {signal["name"] for signal in best["signals"]} >= {"dense", "words"}
    assert "vector" not in best["record"]
    assert "trace" not in said


def test_recall_goes_below_a_scope_only_when_told(filled: Shell) -> None:
    def found(*words: str) -> set[str]:
        return {hit["record"]["scope"] for hit in filled("recall", "Lisbon", "--json", *words).json["hits"]}

    assert found() == {"default"}
    assert found("--scope", "default/**") == {"default", "default/club"}
    assert found("--scope", "default/club") == {"default/club"}


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("--kind", "episode"), ["bob"]),
        (("--kind", "episode", "--kind", "fact"), ["bob", "ann"]),
        (("--session", "s1"), ["bob"]),
        (("--who", "Bob"), ["bob"]),
        (("--agent", "a1"), []),
        (("--until", "2026-01-02"), ["ann"]),
        (("--since", "2026-01-02"), ["bob"]),
        (("--order", "occurred"), ["ann", "bob"]),
        (("--limit", "1"), ["bob"]),
        (("--offset", "1"), ["ann"]),
    ],
)
def test_find_filters_and_orders(filled: Shell, words: tuple[str, ...], ids: list[str]) -> None:
    assert [record["id"] for record in filled("find", "--json", *words).lines] == ids


def test_explain_shows_the_arms_and_the_times(filled: Shell) -> None:
    out = filled("recall", "Lisbon", "--explain").out
    for part in ("by dense", "by words", "searched", "2 records", "understand", " ms "):
        assert part in out
    trace = filled("recall", "Lisbon", "--explain", "--json").json["trace"]
    assert trace["searched"] == 2
    assert trace["arms"]["words"][0][0] == "ann"


def test_nothing_found_is_said_on_stderr_and_is_no_error(filled: Shell) -> None:
    for command in (("recall", "tea"), ("find",)):
        said = filled(*command, "--session", "none")
        assert (said.code, said.out, said.err) == (0, "", "nothing found\n")


def test_context_keeps_its_budget_and_prints_the_block_alone(filled: Shell) -> None:
    said = filled("context", "Lisbon", "--budget", "20")
    assert said.out == "[2026-01-01] Ann lives in Lisbon\n"
    packed = filled("context", "Lisbon", "--budget", "20", "--json").json
    assert packed["tokens"] <= 20
    assert packed["used"] == ["ann"]
    assert filled("context", "Lisbon", "--budget", "0").code == 2


def test_context_takes_neighbours_headings_and_a_counter(filled: Shell) -> None:
    for n, text in enumerate(("hello", "I saw a heron", "where was it")):
        at = f"2026-01-02T00:00:0{n}+00:00"
        filled("remember", text, "--kind", "message", "--session", "pond", "--occurred", at)
    asked = ("context", "heron", "--limit", "1")
    assert filled(*asked).out == "Fri 2 Jan 2026\n[1] hello\n[2] I saw a heron\n[3] where was it\n"
    bare = filled(*asked, "--neighbours", "0", "--no-headings", "--counter", "words", "--now", "2026-02-01")
    assert bare.out == "[2026-01-02] I saw a heron\n"
    assert "7 of 1,000 tokens" in bare.err
    assert filled(*asked, "--counter", "elephants").code != 0
    assert filled(*asked, "--neighbours", "-1").code == 2


def test_show_tells_all_fields_and_the_history(filled: Shell) -> None:
    filled("remember", "Ann lives in Porto", "--id", "ann")
    out = filled("show", "ann", "--history").out
    for part in ("Ann lives in Porto", "importance", "version", "revised", "Lisbon", "256 numbers"):
        assert part in out
    said = filled("show", "ann", "--history", "--json").json
    assert (said["version"], [event["what"] for event in said["history"]]) == (2, ["created", "revised"])


def test_show_and_history_of_the_unknown_end_with_code_1(filled: Shell) -> None:
    for words in ((), ("--history",)):
        said = filled("show", "unknown", *words)
        assert (said.code, said.out) == (1, "")
        assert "unknown" in said.err


def test_history_survives_forgetting(filled: Shell) -> None:
    filled("forget", "ann", "--yes")
    assert [event["what"] for event in filled("show", "ann", "--history", "--json").json["history"]][
        -1
    ] == "forgotten"
    assert "forgotten" in filled("show", "ann", "--history").out


def test_scopes_are_listed_with_their_counts(filled: Shell) -> None:
    assert filled("scopes", "--json").json == {"default": 2, "default/club": 1}
    assert filled("scopes", "--scope", "default/club", "--json").json == {"default/club": 1}
    assert "default/club" in filled("scopes").out


def test_stats_count_all_or_the_scope_named(filled: Shell) -> None:
    assert filled("stats", "--json").json["records"] == 3
    assert filled("stats", "--scope", "default", "--json").json["records"] == 2
    assert filled("stats", "--scope", "default/**", "--json").json["kinds"] == {
        "fact": 2,
        "episode": 1,
    }
    out = filled("stats").out
    for part in ("hashing:256", "2 fact, 1 episode"):
        assert part in out


def test_markup_and_control_characters_in_a_text_stay_text(eidet: Shell) -> None:
    eidet("remember", "press [bold]ENTER[/bold] :smile: \x1b[2J now")
    for command in (("recall", "press"), ("find",), ("context", "press")):
        out = eidet(*command).out
        assert "[bold]ENTER[/bold]" in out
        assert ":smile:" in out
        assert "\x1b" not in out


@pytest.mark.parametrize(
    "words",
    [
        ("recall", "x"),
        ("context", "x"),
        ("find",),
        ("show", "x"),
        ("mark", "x", "pin"),
        ("scopes",),
        ("stats",),
        ("forget", "x", "--yes"),
        ("export", "out.jsonl"),
        ("rebuild",),
        ("rebuild", "--reembed"),
    ],
)
@pytest.mark.parametrize("url", [False, True])
def test_reading_makes_no_file_that_is_not_there(eidet: Shell, words: tuple[str, ...], url: bool) -> None:
    at = f"sqlite:///{eidet.file}" if url else str(eidet.file)
    said = eidet(*words, "--at", at)
    assert (said.code, said.out) == (3, "")
    assert "there is no memory" in said.err
    assert list(eidet.folder.iterdir()) == []


@pytest.mark.parametrize(
    "words", [("recall", "tea"), ("context", "tea"), ("find",), ("show", "x"), ("facts", "Ann")]
)
def test_an_empty_answer_names_the_scopes_that_hold_records(eidet: Shell, words: tuple[str, ...]) -> None:
    eidet("remember", "Ann drinks tea", "--scope", "acme/ann")
    for number in range(4):
        eidet("remember", "Bob drinks coffee", "--scope", f"acme/b{number}")
    told = " ".join(eidet(*words).err.split())
    assert "the scope default has no records; --scope names another one: acme/" in told
    assert "and 2 more (`eidet scopes`)" in told
    assert "the scope nobody has no records" in eidet(*words, "--scope", "nobody").err
    assert "--scope names another" not in eidet(*words, "--scope", "zoo/**").err
    assert "--scope names another" not in eidet(*words, "--json").err
    eidet("remember", "Cid drinks juice")
    assert "--scope names another" not in eidet(*words).err


def test_sessions_are_listed_newest_first(eidet: Shell) -> None:
    for session, scope in (("trip", "ann"), ("garden", "ann"), ("work", "ann/office")):
        eidet("remember", f"we talk of the {session}", "--session", session, "--scope", scope)
    told = eidet("scopes", "--sessions", "--scope", "ann", COLUMNS="80")
    assert told.out.index("we talk of the garden") < told.out.index("we talk of the trip")
    assert "office" not in told.out
    below = eidet("scopes", "--sessions", "--scope", "ann/**", COLUMNS="80")
    assert "ann/office" in below.out
    assert [one["session"] for one in eidet("scopes", "--sessions", "--scope", "ann", "--json").lines] == [
        "garden",
        "trip",
    ]
    nothing = eidet("scopes", "--sessions")
    assert nothing.code == 0
    assert "no sessions" in nothing.err
    assert "--scope names another one: ann" in nothing.err
