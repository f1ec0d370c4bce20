"""Questions that name a month, and what else is from that month.

Each is (what is about the subject, its day, what else happened, in which month, the question): the month of
the other record is the one that is asked about.
"""

from __future__ import annotations

from typing import Final

MONTHS: Final[tuple[tuple[str, str, str, int, str], ...]] = (
    (
        "Gateway version 2.3 went live.",
        "2026-02-12",
        "We deployed the shop frontend.",
        6,
        "Which version of the gateway did we deploy in June?",
    ),
    (
        "The gateway was deployed in version 2.4.",
        "2026-06-12",
        "Version 7 of the app was rejected by the store.",
        6,
        "Which version of the gateway did we deploy in June?",
    ),
    (
        "Dinner with Paula at the harbour was lovely.",
        "2026-03-28",
        "Went to the dentist, two fillings.",
        4,
        "Where did I have dinner with Paula in April?",
    ),
    (
        "Paula and I ate at Chez Marie.",
        "2026-03-28",
        "We had a long chat with the plumber.",
        4,
        "Where did we have dinner with Paula in April?",
    ),
    (
        "The heating engineer replaced the pump.",
        "2026-01-30",
        "Cleaned the windows all afternoon.",
        2,
        "What did the heating engineer do in February?",
    ),
    (
        "Paid 84 euros for electricity.",
        "2026-04-02",
        "Paid 12 euros for parking.",
        3,
        "How much was the electricity bill in March?",
    ),
    (
        "Booked the ferry to Corsica for 310 euros.",
        "2026-02-20",
        "Bought a kayak for 450 euros.",
        3,
        "How much did the ferry cost in March?",
    ),
    (
        "Hanna's recital: she played Chopin.",
        "2026-05-29",
        "Hanna lost a tooth.",
        6,
        "What did Hanna play at the recital in June?",
    ),
    (
        "The audit found two open ports.",
        "2026-01-29",
        "The team dinner was at the Greek place.",
        2,
        "What did the audit find in February?",
    ),
    (
        "Sold the old piano for 900.",
        "2026-04-03",
        "Sold three chairs at the flea market.",
        3,
        "What did we get for the piano in March?",
    ),
    (
        "The roof was leaking above the bedroom.",
        "2026-02-03",
        "The neighbours had a loud party.",
        1,
        "Where was the roof leaking in January?",
    ),
    (
        "Signed the contract with Orbitel for fibre.",
        "2026-04-29",
        "Signed up for the pottery course.",
        5,
        "Which company did we sign the fibre contract with in May?",
    ),
)
