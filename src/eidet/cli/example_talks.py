"""The conversations of the example: what a small company said in half a year."""

from __future__ import annotations

from typing import Final

from .example_story import MARA, StoryTalk

TALKS: Final = (
    StoryTalk(
        MARA,
        "kick-off",
        1,
        9.2,
        """
        Mara: We have signed with the harbour of Aveiro. Three boats, first delivery on {+74}.
        assistant: Congratulations. Which boats, and who is your contact there?
        Mara: Two Terns and one Gannet. The contact is Inês Duarte, the harbour master's deputy.
        assistant: Noted. What did they ask for that the standard boat does not have?
        Mara: A sonar that sees through silt. Jonas wants the Kestrel 450, Priya fears its driver.
        assistant: Shall I collect what speaks for and against it?
        Mara: Yes, by Friday. The budget for sensors is 38,000 euros and not a cent more.
        """,
    ),
    StoryTalk(
        MARA,
        "sonar-choice",
        5,
        14.5,
        """
        Jonas: The Kestrel 450 draws 38 watts. With two of them the Gannet loses an hour of battery.
        Priya: Its driver crashes when the clock jumps. I have filed that with them as ticket KS-2291.
        assistant: The alternative is the Murre 200: 21 watts, open protocol, 40 metres less range.
        Jonas: Range does not matter in a harbour basin that is twelve metres deep.
        Mara: Then we take the Murre 200. Jonas orders four, one as a spare.
        Priya: I can have the driver for it in two weeks.
        assistant: Decided: four Murre 200, ordered by Jonas, driver by Priya until {+14}.
        """,
    ),
    StoryTalk(
        MARA,
        "jonas-moves",
        19,
        17.8,
        """
        Jonas: One thing beside work: I am moving from Kiel to Porto at the end of the month.
        Mara: For good? That is half an hour from Aveiro.
        Jonas: For good. Lena got the position at the university, and the sea trials are next door.
        assistant: Your address changes then. Shall I update where parts are shipped?
        Jonas: From {+12} on everything goes to Rua do Molhe 14, Porto. The workshop there has a crane.
        Mara: Good. And you keep your working hours, nine to five in whatever zone you are.
        """,
    ),
    StoryTalk(
        MARA,
        "battery-fire",
        33,
        8.1,
        """
        Priya: Bad news. A cell of Tern 2 went into thermal runaway on the charger last night.
        Mara: Is everybody all right?
        Priya: Yes. The sand bucket did its job. The pack is gone, and the charger too.
        Jonas: It was one of the Halden packs, batch H-77/9485. I measured 4.31 volts on it in March.
        assistant: Which other boats have packs of that batch?
        Jonas: Gannet 1 has two of them. I am taking them out today.
        Mara: No boat charges without somebody in the room until we know more.
        assistant: I will put that at the top of every check list: attended charging only.
        """,
    ),
    StoryTalk(
        MARA,
        "supplier",
        41,
        10.0,
        """
        Mara: Halden admits it: batch H-77/9485 has a bad separator. They replace all, in nine weeks.
        Jonas: Nine weeks is after the delivery. Ostara can send LFP packs in ten days for 6,400 euros.
        Priya: LFP is 18 percent heavier for the same energy. The Tern gets slower by half a knot.
        Mara: Slower and not on fire is fine. We change our supplier from Halden to Ostara.
        assistant: Changed: battery supplier is Ostara, LFP, 6,400 euros, delivery by {+10}.
        Jonas: I adapt the trays. The balancing plug is another one, please remind me of the adapter.
        """,
    ),
    StoryTalk(
        MARA,
        "diet",
        47,
        12.6,
        """
        Mara: Inês invites us all to dinner in Aveiro on {+28}. What do I have to tell the restaurant?
        assistant: Priya eats no fish and no meat. Jonas is allergic to hazelnuts. Tom eats everything.
        Mara: And Lena?
        Jonas: Lena is coming, no wine for her. And book a table outside, the dog comes too.
        assistant: Five people and a dog, outside, one vegetarian, no hazelnuts.
        """,
    ),
    StoryTalk(
        MARA,
        "sea-trial-1",
        62,
        7.5,
        """
        Jonas: First sea trial in the lagoon. Wind four, current one and a half knots, water 17 degrees.
        Jonas: Tern 1 held its line within 40 centimetres. Gannet 1 drifted, its compass saw the crane.
        Priya: I can fuse the GPS heading above one knot. Below that it needs the compass anyway.
        Jonas: Then mount the compass on the mast. It costs us 300 grams.
        assistant: Two results: Tern 1 passes, Gannet 1 repeats after the compass has moved.
        Mara: Film the next one, Inês wants something for the newspaper.
        """,
    ),
    StoryTalk(
        MARA,
        "sea-trial-2",
        69,
        7.9,
        """
        Jonas: Second trial. The compass on the mast did it: Gannet 1 held 35 centimetres for an hour.
        Priya: The Murre driver lost two pings in an hour. Nobody will see that on the chart.
        Jonas: The LFP packs lasted 5 hours and 50 minutes at three knots. The old ones did six and a half.
        Mara: Good enough for the contract, which says five. We deliver on time.
        assistant: Accepted: both boats within contract. Delivery stays on {+6}.
        """,
    ),
    StoryTalk(
        MARA,
        "delivery",
        75,
        16.2,
        """
        Mara: Delivered! Inês signed for all three boats, and she wants two more before winter.
        Tom: The training took two days. They want the manual in Portuguese, page 30 to 44 at least.
        assistant: Who translates it?
        Mara: Lena does, for a bottle of port and her name on the last page.
        Jonas: The harbour's own crane lifts 900 kilograms. The Gannet with fuel cells would be 940.
        Mara: Then no fuel cells for Aveiro. Write that down, we will be asked again.
        """,
    ),
    StoryTalk(
        MARA,
        "prices",
        88,
        11.3,
        """
        Mara: From {+9} on a Tern costs 41,500 euros. It was 38,900, but LFP and mast cost more.
        Tom: The offer to Bergen still says 38,900. It is valid until {+20}.
        Mara: We keep our word there. Every new offer has the new price.
        assistant: Price of a Tern: 41,500 euros from {+9}; Bergen's offer stays at 38,900.
        """,
    ),
    StoryTalk(
        MARA,
        "priya-leave",
        96,
        9.4,
        """
        Priya: I will be away from {+18} for six weeks. My sister gets married in Pune.
        Mara: Wonderful! Who looks after the driver and the fleet server meanwhile?
        Priya: Tom takes the server. For the driver I have written a runbook, it is in the wiki.
        assistant: I keep a list of what waits for you. Do you want it weekly or when you are back?
        Priya: When I am back. And only if the boats float, please.
        """,
    ),
    StoryTalk(
        MARA,
        "bergen",
        104,
        13.0,
        """
        Tom: Bergen said yes: one Tern, one Gannet, with ice class if we can.
        Jonas: Ice class for a boat of four metres is a thicker bow and a heater for the sonar window.
        Mara: What does that cost?
        Jonas: 3,200 euros for the bow, 450 for the heater, and two weeks.
        Mara: Offer it at 4,500 and say eight weeks. The contact is Sigrid Aasen, she prefers the phone.
        assistant: Bergen: Tern at 38,900, Gannet, ice class 4,500, contact Sigrid Aasen by phone.
        """,
    ),
    StoryTalk(
        MARA,
        "tom-role",
        118,
        15.1,
        """
        Mara: Tom, you have run support alone for two years. From {+3} on you are head of operations.
        Tom: I accept, if I may hire somebody for the phone.
        Mara: You may. Half a position to begin with.
        assistant: Tom is head of operations from {+3}; a half position for support is open.
        Tom: And I want the on-call phone back in one hand: mine, except on weekends.
        """,
    ),
    StoryTalk(
        MARA,
        "night-on-call",
        131,
        22.7,
        """
        Tom: Aveiro called at ten. Tern 3 does not answer since the tide turned.
        assistant: Its last position was at the eastern mole, battery 44 percent, heading 210.
        Tom: Inês sent the pilot boat. It sits on a fishing net, the propeller is blocked.
        assistant: Shall I note what would have prevented it?
        Tom: The current limit was on 28 ampere, it never tripped. Jonas says 19 would have stopped it.
        Mara: Set all boats to 19 ampere tomorrow morning. And thank Inês with flowers.
        """,
    ),
    StoryTalk(
        MARA,
        "jonas-part-time",
        144,
        10.6,
        """
        Jonas: Lena and I expect a child in spring. I want to work four days from January.
        Mara: Congratulations! Which day is yours?
        Jonas: Friday. And no travel from {+40} on, please.
        assistant: Jonas works Monday to Thursday from January, without travel from {+40}.
        Mara: Then the Bergen trial needs somebody else. Priya, would you?
        Priya: If I get a dry suit that fits, yes.
        """,
    ),
    StoryTalk(
        MARA,
        "office",
        157,
        9.9,
        """
        Mara: The lease in Hamburg ends in March. I would rather move the office to Porto than renew it.
        Priya: I stay in Hamburg. Remote is fine for me, I have a desk at the maker space.
        Tom: Porto works for me. My mother lives in Braga.
        assistant: Office: Hamburg until the end of March, then Porto. Priya works from Hamburg.
        Mara: Look for something with a gate of three metres and a quay, up to 2,200 euros a month.
        """,
    ),
    StoryTalk(
        MARA,
        "year-end",
        171,
        16.4,
        """
        Mara: Let us look back. What did we learn this half year?
        assistant: Batch H-77/9485 taught us attended charging and a second supplier.
        Jonas: Put compasses on masts. And never trust a current limit that has not tripped in a test.
        Priya: Drivers with an open protocol. The Murre cost me nine days, the Kestrel would cost a year.
        Tom: Customers call at ten in the evening. The on-call phone needs two people.
        Mara: And we have sold seven boats. Thank you all, I mean it.
        """,
    ),
)
