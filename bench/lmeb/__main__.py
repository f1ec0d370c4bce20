"""LMEB, the Long-horizon Memory Embedding Benchmark (arXiv 2603.12572), with Eidet as the search model.

    pip install '.[lmeb]' && python bench/lmeb                       # through MTEB; needs its hub
    python bench/lmeb FOLDER [--embedder eidet-multi] [--sets TMD]   # four of its tasks from original files

MTEB gives a model nothing but texts. From original files three ways are measured: time and speaker written in
front of the text, as models get it; the same, where Eidet reads them (`read_speakers`); as fields of records.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import WAYS, mean_of, measure_set
from originals import READERS, read_sets
from search_model import EidetSearch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder", type=Path, nargs="?", help="original files; without it, MTEB's hub is asked"
    )
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--sets", nargs="*", help=f"tasks of LMEB; of a folder: {', '.join(READERS)}")
    given = parser.parse_args()
    if given.folder is None:
        ask_hub(given.embedder, given.sets)
    else:
        measure_folder(given.folder, given.embedder, given.sets)


def ask_hub(embedder: str, tasks: list[str] | None) -> None:
    import mteb

    chosen = mteb.get_tasks(tasks=tasks) if tasks else mteb.get_benchmark("LMEB")
    for result in mteb.evaluate(EidetSearch(embedder), chosen).task_results:
        print(f"{result.task_name}: nDCG@10 {result.get_score():.3f}")


def measure_folder(folder: Path, embedder: str, sets: list[str] | None) -> None:
    for name, haystacks in read_sets(folder).items():
        if sets and name not in sets:
            continue
        told = f"{sum(len(one.turns) for one in haystacks)} memories of {len(haystacks)} haystacks"
        print(f"\n{name}: {told}, {embedder}; nDCG@10 / R@10\n")
        print(f"| | n | {' | '.join(WAYS)} |\n|---|---|---|---|---|")
        ways = [measure_set(haystacks, way=way, embedder=embedder) for way in WAYS]
        for category, (_, _, count) in ways[0].items():
            print(f"| {category} | {count} | {' | '.join(_tell(way[category][:2]) for way in ways)} |")
        print(f"| **mean of categories** | | {' | '.join(_tell(mean_of(way)) for way in ways)} |")


def _tell(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.3f} / {pair[1]:.3f}"


main()
