"""Keeps personal data, secrets, and orders to the reading agent out of stored texts.

`guard` finds personal data and applies a `Policy`; `poison` scores how much a text looks like orders
to the agent; `fence_text` quotes untrusted text. Pure: no I/O, no clock, no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.lazy_names import lazy_names

if TYPE_CHECKING:
    from .findings import Found, Pii
    from .poisoning import Poisoned, poison
    from .policy import Action, Forbidden, Pattern, Policy, policy_of
    from .quarantine import fence_text
    from .scan import find
    from .text_guard import Guarded, guard
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "findings": ("Found", "Pii"),
            "poisoning": ("Poisoned", "poison"),
            "policy": ("Action", "Forbidden", "Pattern", "Policy", "policy_of"),
            "quarantine": ("fence_text",),
            "scan": ("find",),
            "text_guard": ("Guarded", "guard"),
        },
    )

__all__ = [
    "Action",
    "Forbidden",
    "Found",
    "Guarded",
    "Pattern",
    "Pii",
    "Poisoned",
    "Policy",
    "fence_text",
    "find",
    "guard",
    "poison",
    "policy_of",
]
