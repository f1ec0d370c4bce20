"""Where the training text comes from: packages by name and version, repositories by commit.

    python train/vectors/sources.py WORK      fetches packages into WORK and unpacks what is read of them

Repositories are not cloned here: put bare clones, checked out or not, at WORK/git/owner+name. Whatever is
fetched stays out of the repository; only the trained table is committed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

NPM = ("cldr-annotations-full@48.2.0",)  # Unicode-3.0: names of emoji in all languages
DICTIONARIES = ("deu", "fra", "spa", "ita", "por", "nld")  # dict-freedict-*, GPL-2+ or GPL-3+
DEBIAN = (  # of Debian 12
    "wordnet-base",  # WordNet licence: English words and glosses
    "wesnoth-1.16-data",  # GPL-2+, CC BY-SA 4.0: stories and talk
    "widelands-data",  # GPL-2+
    "freedroidrpg-data",  # GPL-2+: talk
    "warzone2100-data",  # GPL-2+, CC0
    "freeciv-data",  # GPL-2+
    "tuxpaint-data",  # GPL-2+
    "gnome-user-docs",  # CC BY-SA 3.0: pages of help
    "evolution-common",  # LGPL-3+
    "gnucash-common",  # GPL-2+
    "homebank-data",  # GPL-2+
    "kmymoney-common",  # GPL-2+
    "gramps",  # GPL-2+: families, places, events
    "marble-data",  # LGPL-2.1+
    "kstars-data",  # GPL-2+
    "iso-codes",  # LGPL-2.1+: names of countries and languages
)
GITHUB = {
    "rioyshky/translation": "de48b7027f7318d77010a6e08ed928c10748c23d",  # Tatoeba en-de, CC BY 2.0 FR
    "modelexlab/data": "adddaf33ac35572bcfeb421efec29435e7ea9332",  # Tatoeba en-fr, CC BY 2.0 FR
    "Hoangduc212001/hoang": "2cfd26f9551f5c2d614e8000500891801840a438",  # Tatoeba en-es, CC BY 2.0 FR
    "devcem/NMT-seq2seq-with-pytorch": "c7feb6b987c40f4d8c17f98e3ccda271dba82553",  # en-nl, CC BY 2.0 FR
    "microsoft/IoT-For-Beginners": "8bd535533b39c8b70e2b027f69e18ac842812968",  # MIT, all seven
    "microsoft/Data-Science-For-Beginners": "e305f7b91ff42b0f2a0195bc2d229703aae291bb",  # MIT, all seven
    "google-research-datasets/dstc8-schema-guided-dialogue":  # CC BY-SA 4.0: English dialogues
    "e852981ae34990f4358979625854259302feaa78",
    "google-research-datasets/wiki-split": "80f5bddf42d1a68201b7b107ee4b8d86d82e9fde",  # CC BY-SA 4.0
    # wordnets: fr CeCILL-C, it CC BY 3.0, pt and nl CC BY-SA 4.0
    "omwn/omw-data": "f75be19ec590da12a7a5665e361690b5badb7a25",
}
_VERSION = re.compile(r"_|-(?=\d+\.\d+\.\d)")
_READ_OF_DEBS = ("*.mo", "*freedict*", "*/wordnet/*", "*.page")


def fetch(work: Path) -> None:
    """Downloads the packages with their ordinary clients and unpacks them under `work`."""
    packages = work / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    _run(packages, "npm", "pack", "--silent", *NPM)
    pairs = [(f"eng-{other}", f"{other}-eng") for other in DICTIONARIES]
    _run(
        packages, "apt-get", "download", *DEBIAN, *(f"dict-freedict-{way}" for pair in pairs for way in pair)
    )
    for path in sorted(packages.iterdir()):
        _unpack(path, work / "unpacked" / _VERSION.split(path.name)[0])


def _unpack(path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    else:
        content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(path)], stdout=subprocess.PIPE)
        wanted = ["tar", "-x", "-C", str(folder), "--wildcards", *_READ_OF_DEBS]
        subprocess.run(
            wanted, stdin=content.stdout, stderr=subprocess.DEVNULL, check=False
        )  # not all have all
        content.wait()


def read_repository(work: Path, name: str, path: str) -> bytes:
    """A file of a repository at the commit that was trained with."""
    return _ask_git(work, name, "show", f"{GITHUB[name]}:{path}")


def list_repository(work: Path, name: str, under: str) -> list[str]:
    listed = _ask_git(work, name, "ls-tree", "-r", "--name-only", GITHUB[name], under)
    return listed.decode().splitlines()


def _ask_git(work: Path, name: str, *words: str) -> bytes:
    folder = work / "git" / name.replace("/", "+")
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True).stdout


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
