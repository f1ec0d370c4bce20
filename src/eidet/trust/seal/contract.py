"""The laws of `KeyService` as tests. Subclass the contract in a test file and build your service in `make`:

class TestMine(KeyServiceContract):
    def make(self) -> KeyService:
        return MyKms(key_id="alias/memory")
"""

from __future__ import annotations

from . import KeyService, WrongKey

SECRET = bytes(range(64))


class KeyServiceContract:
    """Tests for every key service. `other` returns a service with another master key, if there can be one."""

    def make(self) -> KeyService:
        raise NotImplementedError

    def other(self) -> KeyService | None:
        return None

    def test_what_was_wrapped_comes_back(self) -> None:
        service = self.make()
        for key in (SECRET, b"", b"\0" * 16):
            assert service.unwrap(service.wrap(key, b"context"), b"context") == key

    def test_a_second_opening_of_the_service_unwraps_it_too(self) -> None:
        assert self.make().unwrap(self.make().wrap(SECRET, b"a"), b"a") == SECRET

    def test_a_wrapped_key_tells_nothing_of_the_key(self) -> None:
        service = self.make()
        wrapped = service.wrap(SECRET, b"context")
        assert SECRET[:8] not in wrapped
        assert service.wrap(SECRET, b"context") != wrapped, "twice the same key must not show"

    def test_another_context_does_not_unwrap(self) -> None:
        service = self.make()
        for context in (b"", b"contex", b"context\0"):
            self.assert_refused(service, service.wrap(SECRET, b"context"), context)

    def test_changed_bytes_do_not_unwrap(self) -> None:
        service = self.make()
        wrapped = service.wrap(SECRET, b"context")
        for at in (0, len(wrapped) // 2, len(wrapped) - 1):
            changed = bytearray(wrapped)
            changed[at] ^= 1
            self.assert_refused(service, bytes(changed), b"context")
        for cut in (b"", wrapped[:5], wrapped[:-1]):
            self.assert_refused(service, cut, b"context")

    def test_another_master_key_does_not_unwrap(self) -> None:
        other = self.other()
        if other is not None:
            assert other.name != self.make().name
            self.assert_refused(other, self.make().wrap(SECRET, b"context"), b"context")

    def test_it_has_a_name_that_stays(self) -> None:
        assert self.make().name
        assert self.make().name == self.make().name

    def assert_refused(self, service: KeyService, wrapped: bytes, context: bytes) -> None:
        try:
            service.unwrap(wrapped, context)
        except WrongKey:
            return
        raise AssertionError("WrongKey was not raised")
