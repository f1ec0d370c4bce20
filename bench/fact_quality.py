"""Precision and recall of reading facts, by relation: `python bench/fact_quality.py [--errors] FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.fact_scoring import (
    FactScore,
    Labelled,
    compare,
    describe_mention,
    read_labels,
    score_facts,
)


def main() -> None:
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    sentences = read_labels(Path(names[0]))
    for half in sorted({one.half for one in sentences}):
        chosen = [one for one in sentences if one.half == half]
        show(half, chosen, score_facts(chosen))
        if "--errors" in sys.argv and half != "held":
            show_errors(chosen)


def show(half: str, sentences: list[Labelled], score: FactScore) -> None:
    print(
        f"{half}: {len(sentences)} sentences, {score.right.total() + score.missed.total()} facts: "
        f"precision {score.precision:.3f}, recall {score.recall:.3f}"
    )
    if "--table" in sys.argv:
        for relation in sorted(score.right | score.wrong | score.missed):
            right, wrong, missed = score.right[relation], score.wrong[relation], score.missed[relation]
            print(f"  {relation:<22} right {right:>3}  wrong {wrong:>3}  missed {missed:>3}")


def show_errors(sentences: list[Labelled]) -> None:
    for sentence in sentences:
        _, wrong, missed = compare(sentence)
        if wrong or missed:
            print(">", sentence.text)
        for one in wrong:
            read = describe_mention(one.subject), one.relation, describe_mention(one.object)
            print("    wrong ", read, "ended" if one.ended else "", "negated" if one.negated else "")
        for fact in missed:
            print("    missed", fact)


if __name__ == "__main__":
    main()
