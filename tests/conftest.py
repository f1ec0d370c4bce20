"""Failures inside the shipped contracts are shown in detail."""

import pytest

pytest.register_assert_rewrite(
    "eidet.embed.contract", "eidet.index.contract", "eidet.store.contract", "eidet.text.contract"
)
