"""What people put around a question: "Hi, quick one: … Thanks!". It says nothing of what is asked for."""

from __future__ import annotations

import re
from typing import Final

_GREETING: Final = (
    r"(?:hi|hey|hello|hiya|good (?:morning|afternoon|evening|day))(?: (?:there|again|all|everyone))?"
)
_OPENING: Final = (
    r"(?:just )?(?:an?(?:other)? )?(?:quick|short|small|brief) (?:one|question)(?: for you)?",
    r"(?:just )?one (?:quick )?question",
    r"(?:so )?sorry to (?:bother|ask|disturb)(?: you)?",
    r"excuse me",
    r"(?:please|pls|kindly)",
    r"(?:could|can|would|will) you (?:please |pls |kindly )?(?:tell me|let me know|say)",
    r"(?:could|can|may|might) i (?:please )?(?:ask|know)",
    r"(?:please )?(?:tell me|let me know)",
    r"do you (?:happen to )?know",
    r"(?:i was |i am |i'm |just )?(?:just )?wondering|i wonder(?:ed)?",
    r"i(?:'d| would) (?:like|love) to know|i(?:'d| would) (?:like|love) to ask",
    r"(?:many )?(?:thanks|thank you)(?: (?:in advance|so much|a lot|very much))?(?! (?:to|for)\b)",
)
_CLOSING: Final = (
    r"(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:in advance|so much|a lot|very much|again))?",
    r"please|pls",
    r"if (?:you don't mind|you know|i may ask|that's ok(?:ay)?)",
    r"much appreciated",
)
_SIGN: Final = r"\s,.:;!?…–—-"
_ASKING: Final = (
    r"(?:how|what|when|where|who|whom|whose|which|why|is|are|am|was|were|do|does|did|can|could|will|would|should|has"
    r"|have|had|if|whether|about|please|quick|just|sorry|i|we|my|our|the|that|this|it)\b"
)
# a greeting, whoever it is for, ends with a sign or before a question; a word that begins alike is none
_BEFORE: Final = re.compile(
    rf"(?:{_GREETING}(?=[,.:;!–—-]|\s+{_ASKING})|(?:{'|'.join(_OPENING)})(?![\w'’-]))[{_SIGN}]*",
    re.IGNORECASE,
)
_WHETHER: Final = re.compile(r"(?:if|whether)\s+", re.IGNORECASE)
_AFTER: Final = re.compile(rf"[{_SIGN}]+(?:{'|'.join(_CLOSING)})[{_SIGN}]*\Z", re.IGNORECASE)
_WORDS: Final = re.compile(r"\w\W+\w|[^\W\x00-\u02ff]{3}")  # two; some scripts have no spaces
_AT_ENDS: Final = 160  # characters at each end in which courtesies are looked for


def drop_courtesies(text: str) -> str:
    """Removes greetings, thanks and "could you tell me" from a query, unless hardly a word would be left."""
    left = _drop_after(_drop_before(text))
    return left if _WORDS.search(left) else text


def _drop_before(text: str) -> str:
    left = text
    while found := _BEFORE.match(left, 0, _AT_ENDS):
        left = left[found.end() :]
    if left is not text and (found := _WHETHER.match(left)):  # "I was wondering if …"
        left = left[found.end() :]
    return left


def _drop_after(text: str) -> str:
    """A question keeps its mark."""
    left = text
    while found := _AFTER.search(left, max(0, len(left) - _AT_ENDS)):
        mark = "?" if "?" in left[found.start() : found.end()] else ""
        left = left[: found.start()] + mark
    return left
