"""Measures Eidet beside other memories and stores in one run, each in its own environment and process.

    python bench/peers.py --work FOLDER            # makes the environments, and measures
    python bench/peers.py --work FOLDER --quick    # the same at 1,000 texts, to see that everything works

FOLDER keeps the environments (4 GB with a torch for CPUs) and what is measured in them. Results
go to `bench/peers.json`, which `peers_page.py` turns into `bench/notes/comparison.md`. Needs
nothing but Python, one whose `sqlite3` loads extensions, because LangGraph's store needs sqlite-vec.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from peers_list import PEERS

BENCH = Path(__file__).parent
ROOT = BENCH.parent
RESULTS = BENCH / "peers.json"
DATA = Path(__file__).parents[2] / "shared" / "data"
SIZES = (1_000, 10_000, 100_000)
EMBEDDER = ("numpy>=2,<3", "tokenizers>=0.20,<1", "wordllama==0.2.2.post0", "PyStemmer", "simsimd>=6.2,<7")
EXTENSIONS = (
    "import sqlite3, sys; sqlite3.Connection.enable_load_extension; assert sys.version_info >= (3, 11)"
)

MEMORY_FILES = Path("/dev/shm")
FORMS = ("text", "labelled")


def main() -> None:
    options = parse_options()
    work: Path = options.work.resolve()
    python = options.python or find_python()
    for name in dict.fromkeys(["eidet", *(PEERS[peer].environment for peer in options.peers)]):
        make_environment(work, name, python)
    material = work / "material"
    if not options.keep_material:
        write_material(work, material, options.data)
    results = read_results(options.results)
    results["run"] = describe_run(options, material)
    for peer in options.peers:
        results["peers"][peer] = measure_peer(peer, work, options, results["run"]["began"])
        options.results.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    results["run"]["load at the end"] = os.getloadavg()
    options.results.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for environments and stores")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with everyday-dev and locomo-dev")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--adds", type=int, default=10_000, help="texts that are added one by one")
    parser.add_argument("--add-seconds", type=float, default=120, help="after which one-by-one adds stop")
    parser.add_argument(
        "--load-seconds", type=float, default=300, help="a size that loads longer is left out"
    )
    parser.add_argument("--ask-seconds", type=float, default=30, help="after which questions stop")
    parser.add_argument(
        "--quality-seconds", type=float, default=900, help="a set that lasts longer is left out"
    )
    parser.add_argument("--rounds", type=int, default=5, help="processes that search; the median is shown")
    parser.add_argument("--no-quality", action="store_true")
    parser.add_argument("--quick", action="store_true", help="1,000 texts, one round")
    parser.add_argument("--keep-material", action="store_true", help="use the texts of the last run")
    parser.add_argument("--python", help="the Python of all environments; the first that can load extensions")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.adds, options.rounds = [1_000], 500, 1
    return options


def find_python() -> str:
    """The first Python whose SQLite can load extensions: all peers get the same one."""
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        if Path(candidate).exists():
            tried = subprocess.run([candidate, "-c", EXTENSIONS], capture_output=True, check=False)
            if tried.returncode == 0:
                return candidate
    raise SystemExit("no Python >= 3.11 whose sqlite3 loads extensions: name one with --python")


def make_environment(work: Path, name: str, python: str) -> None:
    """A venv with the pinned packages, kept for the next run; all but Eidet's get only its embedder."""
    place = work / "envs" / name
    packages = list_packages(name)
    stamp = place / "packages.json"
    wanted = json.dumps([python, packages])
    if stamp.exists() and stamp.read_text() == wanted:
        link_embedder(place, name)
        return
    print(f"making the environment of {name}", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([python, "-m", "venv", place], check=True)
    install = [place / "bin" / "pip", "install", "-q", *packages]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    link_embedder(place, name)
    stamp.write_text(wanted)


def link_embedder(place: Path, name: str) -> None:
    """Lets an environment import the embedder of the tree that runs this."""
    if name != "eidet":
        site = next(place.glob("lib/python3*/site-packages"))
        (site / "eidet.pth").write_text(f"{ROOT / 'src'}\n")


def list_packages(environment: str) -> list[str]:
    """The pinned packages of all peers that share the environment, and those of the embedder."""
    if environment == "eidet":
        return ["-e", str(ROOT), *EMBEDDER]
    found: dict[str, None] = {}
    for peer in PEERS.values():
        if peer.environment == environment:
            found.update(dict.fromkeys(peer.packages))
    return [*sorted(found), *EMBEDDER]


def write_material(work: Path, material: Path, data: Path) -> None:
    (material / "cases").mkdir(parents=True, exist_ok=True)
    command = [find_interpreter(work, "eidet"), BENCH / "peers_material.py", "write", data, material]
    subprocess.run(command, check=True)


def measure_peer(peer: str, work: Path, options: argparse.Namespace, run: str) -> dict[str, Any]:
    print(peer, flush=True)
    result: dict[str, Any] = {"run": run, "load before": os.getloadavg(), "sizes": {}, "quality": {}}
    home = work / "stores" / peer
    shutil.rmtree(home, ignore_errors=True)
    result["one by one"] = measure_adds(peer, work, home, options)
    result["versions"] = result["one by one"].pop("versions", {})
    for size in options.sizes:
        shutil.rmtree(home, ignore_errors=True)
        figures = measure_size(peer, work, home, options, size)
        result["sizes"][str(size)] = figures
        print(f"  {size:,}: {json.dumps(figures)[:300]}", flush=True)
        if "left out" in figures:
            break
    shutil.rmtree(home, ignore_errors=True)
    result["lag"] = run_job(peer, work, home, {"do": "lag", "size": min(options.sizes)}, limit=300)
    shutil.rmtree(home, ignore_errors=True)
    if not options.no_quality:
        result["quality"] = measure_quality(peer, work, options)
    result["load after"] = os.getloadavg()
    return result


def measure_adds(peer: str, work: Path, home: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Adds one by one, ends the process without closing, and counts what a new one finds."""
    job = {"do": "add", "count": options.adds, "seconds": options.add_seconds}
    added = run_job(peer, work, home, job, limit=options.add_seconds * 5)
    if "left out" in added:
        return added
    job = {"do": "count"}
    counted = run_job(peer, work, home, job, limit=120)
    added["found after an unclosed end"] = max(0, counted.get("found", 0) - 1)
    added["disk MB"] = measure_disk(home)
    print(f"  one by one: {json.dumps(added)[:300]}", flush=True)
    return added


def measure_size(peer: str, work: Path, home: Path, options: argparse.Namespace, size: int) -> dict[str, Any]:
    job = {"do": "load", "size": size, "seconds": options.load_seconds}
    loaded = run_job(peer, work, home, job, limit=options.load_seconds * 1.5)
    if "left out" in loaded:
        return loaded
    figures = {"bulk": loaded, "disk MB": measure_disk(home), "search": []}
    loaded.pop("versions")
    for _ in range(options.rounds):
        job = {"do": "search", "seconds": options.ask_seconds}
        searched = run_job(peer, work, home, job, limit=options.ask_seconds * 20)
        searched.pop("versions", None)
        if "left out" in searched:
            return figures | searched
        figures["search"].append(searched)
    return figures


def measure_quality(peer: str, work: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Every form that the peer can take; the page shows its best. In memory where that can be: no figure
    of time comes from here, and some peers write much."""
    home = work / "stores" / f"{peer}-quality"
    if MEMORY_FILES.is_dir():
        home = MEMORY_FILES / f"eidet-peers-{os.getpid()}"
    forms = FORMS
    if peer == "eidet":
        forms = ("full", *FORMS)
    found: dict[str, Any] = {}
    for cases in sorted((work / "material").glob("cases/*.json")):
        found[cases.stem] = {}
        for form in forms:
            job = {"do": "quality", "cases": str(cases), "set": cases.stem, "form": form}
            job["seconds"] = options.quality_seconds
            answers = run_job(peer, work, home, job, limit=options.quality_seconds * 1.5)
            shutil.rmtree(home, ignore_errors=True)
            found[cases.stem][form] = score_answers(work, answers)
            print(f"  {cases.stem}, {form}: {found[cases.stem][form]}", flush=True)
    return found


def score_answers(work: Path, answers: dict[str, Any]) -> dict[str, Any]:
    if "left out" in answers:
        return {"left out": answers["left out"]}
    place = work / "answers.json"
    place.write_text(json.dumps(answers))
    command = [find_interpreter(work, "eidet"), BENCH / "peers_material.py", "score", place]
    scores: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return scores


def run_job(peer: str, work: Path, home: Path, job: dict[str, Any], limit: float) -> dict[str, Any]:
    """Runs one measurement in a new process; what fails or lasts too long is left out, with the reason."""
    answer, place = work / "answer.json", work / "job.json"
    answer.unlink(missing_ok=True)
    job |= {"peer": peer, "home": str(home), "answer": str(answer), "began": time.time()}
    job["material"] = str(work / "material")
    place.write_text(json.dumps(job))
    command = [find_interpreter(work, PEERS[peer].environment), BENCH / "peers_measure.py", place]
    try:
        done = subprocess.run(command, timeout=limit, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return {"left out": f"not finished after {limit:,.0f} s"}
    if not answer.exists():
        print(done.stderr[-3000:], flush=True)
        return {"left out": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    found: dict[str, Any] = json.loads(answer.read_text())
    return found


def find_interpreter(work: Path, environment: str) -> Path:
    return work / "envs" / environment / "bin" / "python"


def measure_disk(home: Path) -> float:
    total = 0
    for file in home.rglob("*"):
        if file.is_file():
            total += file.stat().st_size
    return total / 1e6


def read_results(file: Path) -> dict[str, Any]:
    """Earlier results: peers that this run does not name keep theirs."""
    if file.exists():
        known: dict[str, Any] = json.loads(file.read_text())
        return known
    return {"peers": {}}


def describe_run(options: argparse.Namespace, material: Path) -> dict[str, Any]:
    now = dt.datetime.now(dt.UTC)
    return {
        "day": now.strftime("%Y-%m-%d"),
        "began": now.isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "real texts": json.loads((material / "questions.json").read_text())["real"],
        "load at the start": os.getloadavg(),
        "rounds": options.rounds,
        "load seconds": options.load_seconds,
    }


if __name__ == "__main__":
    main()
