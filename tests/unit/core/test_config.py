"""Settings: good defaults, one reader, no silent typos."""

from __future__ import annotations

from pathlib import Path

import pytest

from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings, Upkeep, read_settings


def test_nothing_given_means_the_defaults() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"PATH": "/bin", "EIDET": "x", "eidet_language": "de"}) == Settings()


def test_the_environment_is_read_by_name_and_type() -> None:
    given = {
        "EIDET_DURABILITY": "power",
        "EIDET_LANGUAGE": "de",
        "EIDET_KEEP_DUPLICATES": "Yes",
        "EIDET_TEXT_CHARS": "500",
    }
    wanted = Settings(durability="power", language="de", keep_duplicates=True, text_chars=500)
    assert read_settings(given) == wanted
    assert read_settings({"EIDET_KEEP_DUPLICATES": "0"}).keep_duplicates is False


def test_a_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[eidet]\nlanguage = "fr"\ntext_chars = 9\nkeep_duplicates = true\n[other]\nx = 1\n')
    assert read_settings({}, file) == Settings(language="fr", text_chars=9, keep_duplicates=True)
    assert read_settings({"EIDET_LANGUAGE": "de"}, file).language == "de"


def test_a_file_without_our_table_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[other]\nx = 1\n")
    assert read_settings({}, file) == Settings()


def test_unknown_names_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[eidet]\nlangauge = 'de'\n")
    with pytest.raises(Misconfigured, match=r"unknown settings \['langauge'\]; there are"):
        read_settings({}, file)


@pytest.mark.parametrize("content", ["[eidet", "= 1", "[eidet]\nlanguage = \n"])
def test_a_broken_or_missing_file_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "settings.toml"
    with pytest.raises(Misconfigured, match=r"settings file .*settings\.toml cannot be used"):
        read_settings({}, file)
    file.write_text(content)
    with pytest.raises(Misconfigured, match=r"settings file .*settings\.toml cannot be used"):
        read_settings({}, file)


def test_those_of_upkeep_have_a_table_and_a_prefix_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[eidet]\nlanguage = "fr"\n[eidet.upkeep]\nshort_entries = 5\narchive = "old"\n')
    given = {"EIDET_UPKEEP_FORGET_BELOW": "0.25", "EIDET_UPKEEP_SHORT_AGE_DAYS": "none"}
    read = read_settings(given, file)
    assert read.language == "fr"
    assert read.upkeep == Upkeep(short_entries=5, archive="old", forget_below=0.25, short_age_days=None)


@pytest.mark.parametrize("upkeep", ["[eidet]\nupkeep = 5\n", "[eidet.upkeep]\nlangauge = 1\n"])
def test_upkeep_is_read_as_strictly(tmp_path: Path, upkeep: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(upkeep)
    with pytest.raises(Misconfigured, match="upkeep"):
        read_settings({}, file)
