"""Addresses are read in one way: options by type and range, logins, hosts, and secrets never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from eidet.core.errors import Misconfigured
from eidet.net.url import Options, read_secret, split_url


def test_an_address_is_split_into_its_parts() -> None:
    url = split_url("redis://ann:p%40ss@one:7001,[::1]/3?wait=1&prefix=a%20b")
    assert (url.scheme, url.path, url.query) == ("redis", "3", "wait=1&prefix=a%20b")
    assert url.parse_hosts(6379) == (("one", 7001), ("::1", 6379))
    assert url.parse_login() == ("ann", "p@ss")
    assert Options.parse(url.query).values == {"wait": "1", "prefix": "a b"}


def test_neither_login_nor_options_are_shown() -> None:
    url = split_url("redis://ann:hush@one/3?key=hush")
    assert str(url) == "redis://one/3"
    assert "hush" not in repr(url)
    assert "hush" not in repr(Options.parse(url.query))


@pytest.mark.parametrize("url", ["redis://ann:a/b@host", "redis://ann:a?b@host"])
def test_a_login_that_is_not_percent_encoded_is_told_without_it(url: str) -> None:
    with pytest.raises(Misconfigured, match="percent-encoded") as told:
        split_url(url)
    assert "ann" not in str(told.value)


def test_an_unknown_option_is_named_with_those_that_exist() -> None:
    options = Options({"wiat": "1"}, prefix="eidet_", hint="x://host?eidet_wait=1")
    wanted = r"unknown option 'eidet_wiat' .* there are eidet_wait, eidet_prefix: x://host\?eidet_wait=1"
    with pytest.raises(Misconfigured, match=wanted):
        options.check_known(("wait", "prefix"))
    Options({"wait": "1"}).check_known(("wait", "prefix"))


def test_numbers_are_within_their_range() -> None:
    options = Options({"a": "7", "b": "2.5", "none": "0"})
    assert (options.parse_whole("a", 1), options.parse_whole("c", 1)) == (7, 1)
    assert (options.parse_number("b", 1.0), options.parse_number("c", None)) == (2.5, None)
    with pytest.raises(Misconfigured, match="a must be a whole number from 8 to 9, not '7'"):
        options.parse_whole("a", 8, least=8, most=9)
    with pytest.raises(Misconfigured, match="none must be a whole number from 2 up, not '0'"):
        options.parse_whole("none", 5, least=2)
    with pytest.raises(Misconfigured, match="none must be a number above 0, not '0'"):
        options.parse_number("none", 1.0, above=0)


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf", "", "1e12"])
def test_what_is_no_number_is_told(text: str) -> None:
    with pytest.raises(Misconfigured, match="n must be a number from 0 up"):
        Options({"n": text}).parse_number("n", 1.0)
    with pytest.raises(Misconfigured, match="n must be a whole number from 0 up"):
        Options({"n": text}).parse_whole("n", 1)


def test_choices_flags_and_lists() -> None:
    options = Options({"prepare": "off", "tls": "Yes", "plain": "0"})
    assert options.parse_choice("prepare", {"on": True, "off": False}, True) is False
    assert (options.parse_flag("tls"), options.parse_flag("plain"), options.parse_flag("x")) == (
        True,
        False,
        False,
    )
    with pytest.raises(Misconfigured, match="prepare is one of on, auto, not 'off'"):
        options.parse_choice("prepare", {"on": 1, "auto": 2}, 1)


def test_a_secret_is_in_a_variable_a_file_or_the_text_itself(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from a file\n", encoding="utf-8")
    (tmp_path / "key").chmod(0o600)
    assert read_secret("env:KEY", {"KEY": " s3cret "}, "the index") == "s3cret"
    assert read_secret(f"file:{tmp_path / 'key'}", {}, "the index") == "from a file"
    assert read_secret("plain:text", {}, "the index") == "plain:text"
    assert Options({}).read_secret("key", {}, "the index") is None
    with pytest.raises(Misconfigured, match="the variable KEY is not set"):
        read_secret("env:KEY", {"KEY": " "}, "the index")
    with pytest.raises(Misconfigured, match="the key of the index cannot be read"):
        read_secret("file:/no/such/file", {}, "the index")
