"""Words by which a text tells of a change, of what was left behind, and of doubt, in English and German."""

from __future__ import annotations

from typing import Final

from ..text.worded_pattern import WordedPattern

CHANGE: Final = WordedPattern(
    r"\b(?:now|nowadays|these days|instead|no longer|no more|any ?more|any longer|new|from now on|as of|since"
    r"|chang(?:ed|es)|switch(?:ed|es)|mov(?:ed|es)|replac(?:ed|es)|became|becomes|renamed"
    r"|jetzt|inzwischen|nicht mehr|statt(?:dessen)?|neue?[rsnm]?|seit|geändert|gewechselt|umgezogen)\b"
)
# what stands right behind is left behind
LEFT: Final = WordedPattern(
    r"\b(?:from|instead of|rather than|in place of|no longer|not|\w+n't|stopped|quit|left|replac(?:ed|es|ing)"
    r"|gave up|given up|got rid of|dropped|sold|cancel+ed|swapped|exchanged|switched|changed|off|out of"
    r"|von|statt|nicht mehr|kein\w*|ersetzt)"
    r"(?: (?:the|an?|my|our|his|her|their|its|old|to|in|on|at|under|behind|with|near|taking|using|der|die"
    r"|das))*"
    r" ((?:(?!(?:to|for|and|or|on|in|at|by|any|but|because|since|as|so|with|zu[mr]?)\b)[\w'.-]+ ?){1,3})"
)
DOUBT: Final = WordedPattern(
    r"\b(?:might|may|maybe|perhaps|possibly|probably|could|would|should|will|plan(?:s|ned|ning)?|thinking"
    r"|thinks?|guess|believes?|suppose|assume|consider(?:s|ing|ed)?|wants?|hop(?:es?|ing)|wish(?:es)?"
    r"|if|whether|heard|hears|says|said|told"
    r"|apparently|supposedly|rumou?rs?|going to|about to|vielleicht|wollen|könnten?|würden?|soll(?:te)?"
    r"|angeblich)\b"
)
# times and numbers are shared by chance
TIMES: Final = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december day week month year hour minute morning evening night time today "
    "tomorrow yesterday one two three four five six seven eight nine ten"
)
