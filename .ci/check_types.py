"""Fails if pyright knows the types of less than 98 % of the public names: check_types.py REPORT.json"""

from __future__ import annotations

import json
import sys
from pathlib import Path

LEAST = 0.98


def main(report: str) -> int:
    completeness = json.loads(Path(report).read_text())["typeCompleteness"]
    score = completeness["completenessScore"]
    print(f"types are known for {score:.1%} of {sum(completeness['exportedSymbolCounts'].values())} names")
    return 0 if score >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
