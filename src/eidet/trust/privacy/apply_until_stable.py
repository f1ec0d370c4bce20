"""Acts on a text until nothing is left to act on, so that guarding twice is guarding once.

A token is a wall: what stands between two tokens is looked at by itself, whatever the tokens replaced.
So the pieces of a guarded text are the pieces that were found clean, and guarding it again finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .findings import Found
from .placeholders import TOKEN_SIGNS, digest, pattern_of_tokens, plain_token, pseudonym
from .policy import KEYED, STAYING, Action, Forbidden, Policy, PrivacyKeys
from .scan import find

DEEPEST = 8  # a text that still gives something then is made to do so, and the rest of it is covered whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """A finding of the original text, what is done with it and what stands there now."""

    found: Found
    action: Action
    token: str | None  # None: the text stays


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    at: int  # where it stands in the original
    depth: int


def apply_policy(
    text: str, policy: Policy, keys: PrivacyKeys | None, *, before: str = "", path: str = ""
) -> list[Acted]:
    """What to do, in text order. `before` is read as standing before the text; it is never acted on."""
    acted: list[Acted] = []
    pieces = [_Piece(*piece, 0) for piece in _between_tokens(text, policy)]
    while pieces:
        piece = pieces.pop()
        changing, staying = _findings(piece, policy, before if piece.at == 0 else "")
        if changing and piece.depth == DEEPEST:
            changing = [replace(changing[0], start=0, end=len(piece.text), text=piece.text)]
        acted += [_act(_move_finding(one, piece.at), policy, keys, path) for one in changing or staying]
        if changing:
            pieces += (
                _Piece(rest, piece.at + at, piece.depth + 1) for rest, at in _around(piece.text, changing)
            )
    return sorted(acted, key=lambda one: one.found.start)


def _between_tokens(text: str, policy: Policy) -> Iterator[tuple[str, int]]:
    if not any(sign in text for sign in TOKEN_SIGNS):
        return iter([(text, 0)] if text else [])
    tokens = pattern_of_tokens(tuple(pattern.name for pattern in policy.patterns))
    return _outside(text, [match.span() for match in tokens.finditer(text)])


def _around(text: str, found: list[Found]) -> Iterator[tuple[str, int]]:
    return _outside(text, [(one.start, one.end) for one in found])


def _outside(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    at = 0
    for start, end in (*spans, (len(text), len(text))):
        if start > at:
            yield text[at:start], at
        at = end


def _findings(piece: _Piece, policy: Policy, before: str) -> tuple[list[Found], list[Found]]:
    """Those that change the text, and those that leave it as it is."""
    shift = len(before)
    found = []
    for one in find(before + piece.text, policy.patterns, least=policy.least):
        if one.start >= shift:
            found.append(_move_finding(one, -shift))
    stays = [policy.action(one.kind) in STAYING for one in found]
    changing = [one for one, staying in zip(found, stays, strict=True) if not staying]
    return changing, [one for one, staying in zip(found, stays, strict=True) if staying]


def _move_finding(one: Found, by: int) -> Found:
    if by:
        return replace(one, start=one.start + by, end=one.end + by)
    return one


def _act(one: Found, policy: Policy, keys: PrivacyKeys | None, path: str) -> Acted:
    action = policy.action(one.kind)
    if action is Action.REFUSE:
        raise Forbidden(one.kind, start=one.start, end=one.end, path=path)
    if action in STAYING:
        token = None
    else:
        token = _token(one, action, keys)
    return Acted(found=one, action=action, token=token)


def _token(one: Found, action: Action, keys: PrivacyKeys | None) -> str:
    if action not in KEYED:
        return plain_token(one, action)
    assert keys is not None  # checked by `guarded` before anything is looked at
    make: Callable[[Found, bytes], str] = digest if action is Action.HASH else pseudonym
    return make(one, keys.key)


def rewritten(text: str, acted: list[Acted]) -> str:
    parts, at = [], 0
    for one in acted:
        if one.token is not None:
            parts += [text[at : one.found.start], one.token]
            at = one.found.end
    return "".join((*parts, text[at:]))
