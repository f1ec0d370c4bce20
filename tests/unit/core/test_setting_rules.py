"""Every field of `Settings` and `Upkeep` has a rule, and nothing outside of it passes, however it is said."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from eidet import Memory, Misconfigured, Settings
from eidet.core.setting_rules import SettingRule, rules_of
from eidet.core.settings import Upkeep, read_settings

CLASSES: Final[dict[type[Any], Any]] = {kind: rules_of(kind) for kind in (Settings, Upkeep)}
EVERY: Final = [(kind, name) for kind, rules in CLASSES.items() for name in rules]


def bad_values(rule: SettingRule) -> list[Any]:
    """What no such field takes."""
    beyond = [] if rule.high == math.inf else [rule.high * 2, math.inf]
    bad: dict[tuple[type, ...], list[Any]] = {
        (): [],
        (bool,): [0, 1, "yes", ""],
        (int,): [rule.low - 1, rule.high + 1, "3", "a", 1.5, True, [], math.nan, math.inf],
        (int, float): [rule.low - 1, *beyond, math.nan, -math.inf, "0.5", "a", True, ()],
        (str, Path): [1, 0.5, True, b"x", *(["", "other"] if rule.words else [])],
    }
    return [*bad[rule.types], *([] if rule.or_none or not rule.types else [None])]


def good_values(rule: SettingRule) -> list[Any]:
    known: dict[tuple[type, ...], list[Any]] = {(): [], (bool,): [True, False], (str, Path): ["x"]}
    good = list(rule.words) or known.get(rule.types, [rule.low, rule.high])
    return [None, *good] if rule.or_none else good


@pytest.mark.parametrize("kind", CLASSES)
def test_every_field_has_a_rule_and_its_default_follows_it(kind: type[Any]) -> None:
    assert [field.name for field in fields(kind)] == list(CLASSES[kind])
    kind()


def test_what_is_checked_elsewhere_is_no_number() -> None:
    left = {name for kind, name in EVERY if not CLASSES[kind][name].types}
    assert left == {"guard", "guard_key", "key", "retention", "upkeep"}


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_nothing_outside_of_its_range_passes(kind: type[Any], name: str) -> None:
    rule = CLASSES[kind][name]
    for value in bad_values(rule):
        with pytest.raises(Misconfigured) as refused:
            kind(**{name: value})
        assert f"{name} cannot be" in str(refused.value)
        assert str(rule) in str(refused.value), "the range that is allowed is named"
    for value in good_values(rule):
        assert getattr(kind(**{name: value}), name) == value


def said_in_toml(kind: type[Any], name: str, value: Any) -> str:
    table = "[eidet.upkeep]" if kind is Upkeep else "[eidet]"
    return f"{table}\n{name} = {value}\n"


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_files_and_variables_are_checked_as_strictly(kind: type[Any], name: str, tmp_path: Path) -> None:
    rule = CLASSES[kind][name]
    if int not in rule.types:
        return
    file, prefix = tmp_path / "eidet.toml", "EIDET_UPKEEP_" if kind is Upkeep else "EIDET_"
    beyond = [] if rule.high == math.inf else ["inf", f"{rule.high * 2:.0f}"]
    for value in ("nan", "-inf", "true", "'a'", str(rule.low - 1), *beyond, "[1]"):
        file.write_text(said_in_toml(kind, name, value))
        with pytest.raises(Misconfigured, match=name):
            read_settings({}, file)
        with pytest.raises(Misconfigured, match=name):
            read_settings({prefix + name.upper(): value})
    read = read_settings({prefix + name.upper(): str(rule.high)})
    assert getattr(read.upkeep if kind is Upkeep else read, name) == rule.high


@pytest.mark.parametrize(
    ("said", "range_"),
    [
        ({"forget_below": 7}, "from 0 to 1"),
        ({"half_life_days": 0}, "from 1e-06 to 1,000,000"),
        ({"archive_above": 5}, "from 0 to 1"),
        ({"short_age_days": "30"}, "from 0 up, or none"),
    ],
)
def test_a_typo_deletes_nothing(said: dict[str, Any], range_: str) -> None:
    with Memory(embedder="hashing:16") as memory:
        memory.remember(["one", "two"], importance=0.1)
        with pytest.raises(Misconfigured, match=range_):
            memory.upkeep.maintain(settings=Upkeep(**said))
        assert memory.count() == 2
