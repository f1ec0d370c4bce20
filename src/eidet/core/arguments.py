"""Checks what callers pass to the verbs, before anything happens. Each check returns the clean value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from .actor import acts
from .dict_filters import Filter, where_of
from .errors import BadInput, each_item
from .scope import ALL, Scope, Scopes
from .validate import (
    CONDITIONS,
    QUERY_CHARS,
    Json,
    check_count,
    check_length,
    check_whole,
    clean_json,
    clean_text,
    describe_data,
    plain_value,
)
from .where import Where

MOST_TOKENS = 1_000_000_000_000
UNITS = ("record", "session", "scope")  # what a hit of a recall may stand for


def one(scope: str | Scope) -> str:
    """Returns the path of a single scope; refuses a prefix, which is no place to write to or to get from."""
    chosen = Scope.of(scope)
    if chosen.below:
        raise BadInput(f"this needs one scope, not {chosen}, which names several")
    return chosen.path


def each_path(scope: Scopes) -> list[str]:
    """Returns the paths of one scope or several, for verbs that look up ids; refuses prefixes."""
    return [one(single) for single in Scope.among(scope).members]


def one_or_all(scope: str | Scope | None) -> Scope | None:
    """Parses the scope of a verb that can cover all scopes; None and `**` become None."""
    if scope is None or (isinstance(scope, str) and scope == ALL):
        return None
    return Scope.of(scope)


def actor(by: str | None) -> str | None:
    if by is None:
        return acts().by
    return clean_text(by, "by")


def check_filter(where: Filter | None) -> Where | None:
    """Converts a filter, given as a `Where` or a dict, to a `Where`; raises `BadInput` for anything else."""
    found = where_of(where)
    if found is not None:
        check_count(_count_conditions(found), CONDITIONS, "conditions of a filter")
    return found


def _count_conditions(where: Where) -> int:
    """Counts conditions and filters, including nested ones."""
    count = len(where.conditions)
    for part in (*where.every, *where.some, *where.never):
        count += max(1, _count_conditions(part))
    return count


def narrow_filter(where: Filter | None, **parts: Any) -> Where | None:
    """Combines a filter with filter parts given by name; returns None if there are neither."""
    chosen = check_filter(where)
    given = {name: value for name, value in parts.items() if value is not None}
    if not given:
        return chosen
    if chosen is None:
        return Where(**given)
    return Where(**given, every=(chosen,))


def check_query(query: str | Mapping[str, Json]) -> str:
    """Returns the text of a query. A state is worded like stored states."""
    if isinstance(query, Mapping):
        query = describe_data(clean_json(query, "a query"))
    if not isinstance(query, str):
        raise BadInput(f"a query must be a string or a dict, not {type(query).__name__}")
    check_length(query, QUERY_CHARS, "a query")
    if not query.isascii():
        return query.encode(errors="replace").decode()
    return query


def check_limit(limit: int) -> int:
    return check_whole(limit, 1, 1_000_000, "limit")


def check_most(limit: int | None) -> int | None:
    """Checks a limit like `check_limit`; None means no limit."""
    return None if limit is None else check_limit(limit)


def check_budget(budget: int) -> int:
    return check_whole(budget, 1, MOST_TOKENS, "a budget of tokens")


def check_neighbours(count: int) -> int:
    return check_whole(count, 0, 100, "neighbours")


def check_share(value: float, what: str) -> float:
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadInput(f"{what} must be a number from 0 to 1, not {value!r:.80}")
    return float(value)


def check_unit(unit: str) -> str:
    if not isinstance(unit, str) or unit not in UNITS:
        raise BadInput(f"a unit must be one of {', '.join(UNITS)}, not {unit!r:.80}")
    return unit


def check_offset(offset: int) -> int:
    return check_whole(offset, 0, inf, "offset")


def check_version(version: int | None) -> int | None:
    return None if version is None else check_whole(version, 0, inf, "version")


_INSTEAD = {
    **dict.fromkeys(("user_id", "user", "namespace", "collection", "tenant"), "scope"),
    **dict.fromkeys(("run_id", "session_id", "thread_id"), "session"),
    **dict.fromkeys(("metadata", "tags"), "meta"),
    **dict.fromkeys(("role", "speaker"), "who"),
    **dict.fromkeys(("filters", "filter"), "where"),
    **dict.fromkeys(("top_k", "k", "n", "n_results"), "limit"),
    **dict.fromkeys(("timestamp", "created_at"), "occurred"),
    "agent_id": "agent",
    "embedding": "vector",
    "kind": "kinds",
    "tier": "tiers",
}


def make_unknown(verb: str, unknown: Iterable[str], known: Iterable[str]) -> BadInput:
    """Returns the error for arguments that a verb does not take; it suggests replacements where known."""
    names, there = sorted(unknown), sorted(known)
    hints: list[str] = []
    for name in names:
        instead = _INSTEAD.get(name)
        if instead in (*there, "scope", "where", "limit"):
            hints.append(f"instead of {name} say {instead}=…; ")
    return BadInput(f"{verb} does not know {names}; {''.join(hints)}there are {', '.join(there)}")


def check_flag(value: object, what: str) -> bool:
    """Accepts only True and False: the text "no" would count as true."""
    if value is True or value is False:
        return value
    value = plain_value(value)
    if not isinstance(value, bool):
        raise BadInput(f"{what} must be True or False, not {value!r:.80}")
    return value


def check_path(path: str | Path, what: str) -> Path:
    """Returns the path of a file; raises `BadInput` for one that no disk can have."""
    if not isinstance(path, str | os.PathLike):
        raise BadInput(f"{what} must be a path, not {type(path).__name__}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise BadInput(f"{what} {os.fspath(path)!r:.80} has characters that no file name can have") from None
    if not name or b"\0" in name:
        raise BadInput(f"{what} {os.fspath(path)!r:.80} cannot be the path of a file")
    return Path(os.fsdecode(name))


def check_texts(values: object, what: str) -> list[str]:
    """Returns a list of texts, such as ids; refuses a single text, which would be split into letters."""
    if not isinstance(values, list | tuple | set | frozenset):
        raise BadInput(f"{what} must be a list of texts, not {type(values).__name__}")
    return list(each_item(lambda value: clean_text(value, what), list(values)))


def check_callback(callback: object, what: str) -> None:
    if callback is not None and not callable(callback):
        raise BadInput(f"{what} must be a function, not {type(callback).__name__}")
