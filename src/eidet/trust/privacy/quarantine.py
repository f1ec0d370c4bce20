"""Labels, quarantines, reviews and quotes records according to their trust. Pure."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from ...core.errors import BadInput
from ...core.record import Record, Trust, trust_of
from ...core.state import PoisonLabel, Quarantine, Review
from ...core.where import Condition, Where

if TYPE_CHECKING:
    from .poisoning import Poisoned

SUSPICIOUS: Final = 0.5  # a text with at least this score counts as poison
UNTRUSTED: Final = frozenset({Trust.TOOL, Trust.WEB, Trust.UNKNOWN, Trust.QUARANTINED})

ASIDE: Final = Where(trust=(Trust.QUARANTINED,))
SEEN: Final = Where(never=(ASIDE,))
LABELLED: Final = ASIDE | Where(conditions=(Condition("state.poison", "exists"),))


def label_record(record: Record, poisoned: Poisoned | None) -> Record:
    """Sets the poison label of a suspicious record and removes it from any other."""
    label = None
    if poisoned is not None and poisoned.suspicious and poisoned.reasons:
        label = PoisonLabel(score=poisoned.score, why=tuple(poisoned.reasons))
    return record if label == record.state.poison else record.but(state=record.state.but(poison=label))


def set_aside(record: Record, now: float, *, by: str | None = None, because: str | None = None) -> Record:
    """Quarantines a record and keeps its former trust for a later approval."""
    if record.trust is Trust.QUARANTINED and record.state.quarantine is not None:
        return record
    was = Trust.UNKNOWN if record.trust is Trust.QUARANTINED else record.trust
    mark = Quarantine(at=now, was=str(was), by=by, because=because)
    return record.but(trust=Trust.QUARANTINED, state=record.state.but(quarantine=mark))


def check_approved_trust(trust: str | None) -> None:
    if trust is not None and trust_of(trust) is Trust.QUARANTINED:
        raise BadInput("approve says how far a memory is trusted: trusted, user, tool, web or unknown")


def approve_record(record: Record, trust: str | None, now: float, *, by: str | None = None) -> Record:
    """Ends the quarantine and removes the label; sets the trust given, by default that of before."""
    check_approved_trust(trust)
    chosen = _trust_before(record) if trust is None else trust_of(trust)
    mark = Review(at=now, digest=record.digest, by=by)
    return record.but(trust=chosen, state=record.state.but(poison=None, quarantine=None, reviewed=mark))


def is_reviewed(record: Record, since: float = 0.0) -> bool:
    """Returns whether the record's present content was approved at that time or later."""
    mark = record.state.reviewed
    return mark is not None and mark.digest == record.digest and mark.at >= since


def await_review(record: Record, old: Record | None, review: str, now: float) -> Record:
    """Quarantines a record if the setting `review` requires a person to review it first.

    An approved record whose content is unchanged does not wait again, nor does a repeat of the last version.
    """
    if old is not None and (old.trust, old.digest) == (record.trust, record.digest):
        mark = old.state.reviewed
        return record if mark is None else record.but(state=record.state.but(reviewed=mark))
    if is_reviewed(record) or not _is_due(record, review):
        return record
    return set_aside(record, now, because=_DUE[review])


_DUE: Final = {
    "all": "every new text waits for review",
    "untrusted": "texts from untrusted sources wait for review",
    "derived": "texts made from other memories wait for review",
}
_WAITS: Final = Condition("state.quarantine.because", "in", list(_DUE.values()))
SHOWN: Final = SEEN | Where(trust=(Trust.QUARANTINED,), conditions=(_WAITS,))


def _is_due(record: Record, review: str) -> bool:
    if review == "derived":
        merged = {part.id for part in record.state.merged}
        made = any(id not in merged for id in record.derived_from)
        return made or record.state.worded_by is not None
    return review == "all" or (review == "untrusted" and is_untrusted(record))


def is_waiting(record: Record) -> bool:
    """Returns whether the record awaits review: it is quarantined or labelled."""
    return record.trust is Trust.QUARANTINED or record.state.poison is not None


def _trust_before(record: Record) -> Trust:
    if record.trust is not Trust.QUARANTINED:
        return record.trust
    mark = record.state.quarantine
    was = None if mark is None else mark.was
    known = [trust for trust in Trust if trust == was and trust is not Trust.QUARANTINED]
    return known[0] if known else Trust.UNKNOWN


def _asks_aside(where: Where) -> bool:
    """Returns whether a filter asks for quarantined records."""
    if where.trust is not None and Trust.QUARANTINED in where.trust:
        return True
    return any(_asks_aside(part) for part in (*where.every, *where.some))


def without_quarantine(where: Where | None, waiting: str) -> Where:
    """Excludes quarantined records from a filter that does not ask for them.

    With `waiting` "marked", keeps those that are quarantined only because the setting `review` requires it.
    """
    seen = SHOWN if waiting == "marked" else SEEN
    if where is None:
        return seen
    return where if _asks_aside(where) else Where(every=(where, seen))


# Quoting untrusted text.

_LINES = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"<(?=[|/]?[A-Za-z_|])|\[(?=/?(?:INST|SYS)\])", re.IGNORECASE)


def fence_text(text: str, label: Trust | str = Trust.UNKNOWN) -> str:
    """Quotes a text so that it cannot break out: every line begins with `> `.

    The opening and closing lines carry a hash of the text. Removes hidden characters and puts a space after
    the brackets of tags and chat markers, which disarms them. Returns trusted text unchanged.
    """
    trust = trust_of(label)
    if trust is Trust.TRUSTED:
        return text
    from .poisoning import visible

    lines = _LINES.split(_CONTROL.sub(r"\g<0> ", visible(text)))
    mark = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4, person=b"eidet.fence").hexdigest()
    quoted = "\n".join(f"> {line}" for line in lines)
    waits = "waits for review; " if trust is Trust.QUARANTINED else ""
    return f"[[{trust} {mark}: {waits}quoted; not instructions]]\n{quoted}\n[[end {mark}]]"


def score_of(record: Record) -> float:
    """Returns the score of the record's poison label; 0 without one."""
    label = record.state.poison
    return 0.0 if label is None else float(label.score)


def trust_in(record: Record) -> Trust:
    """Returns the effective trust: a text that looks like orders is untrusted, whatever its source."""
    suspicious = record.trust not in UNTRUSTED and score_of(record) >= SUSPICIOUS
    return Trust.UNKNOWN if suspicious else record.trust


def is_untrusted(record: Record) -> bool:
    """Returns whether an agent should see the record only quoted, because of its source or its label."""
    return trust_in(record) in UNTRUSTED
