"""Changes as people tell them, and later records that change nothing: what recall is tested with.

Each is (what was said first, what was said later, a question about the present). `CHANGES` and `UNCHANGED`
were at hand when the comparison was made. `CHANGES_UNSEEN` and `UNCHANGED_UNSEEN` were written afterwards;
when first asked, 21 of 22 changes came among three, 6 had a score above .6 without being sure, and 10 of 11
facts stayed first. Two rules were mended then: a best hit that is the later one, and "my brother sold his".
"""

from __future__ import annotations

from typing import Final

Told = tuple[str, str, str]

CHANGES: Final[tuple[Told, ...]] = (
    (
        "I take warfarin as a blood thinner.",
        "I switched from warfarin to apixaban.",
        "Which blood thinner am I on?",
    ),
    (
        "I take warfarin as a blood thinner.",
        "I switched from warfarin to apixaban.",
        "What do I take, warfarin or something else?",
    ),
    (
        "We keep the house key under the green flowerpot.",
        "The key isn't under the flowerpot any more, Dora has it.",
        "Where is the house key?",
    ),
    (
        "My phone number is 0151 2233445.",
        "New contract, so my phone number is 0170 998877.",
        "What is my phone number?",
    ),
    ("Ann lives in Lyon.", "Ann moved from Lyon to Nantes over Easter.", "Where does Ann live?"),
    (
        "Karim works at Halvorsen Shipping.",
        "Karim handed in his notice at Halvorsen and started with the port authority.",
        "Where does Karim work?",
    ),
    (
        "We drive an old Volvo estate.",
        "The Volvo went to the scrapyard, we got a Kia instead.",
        "Which car do we drive?",
    ),
    (
        "Biscuit the dog eats Canivita kibble.",
        "The vet took Biscuit off Canivita, she gets boiled chicken and rice.",
        "What does Biscuit eat?",
    ),
    (
        "The gateway runs version 4.1.",
        "Gateway upgraded from version 4.1 to 4.2 on all nodes.",
        "Which version of the gateway is running?",
    ),
    (
        "The tax return is due on 31 May.",
        "The tax office granted us an extension: the return is due on 30 September.",
        "When is the tax return due?",
    ),
    (
        "Olga is going out with Stefan.",
        "Olga broke up with Stefan, better off single.",
        "Who is Olga going out with?",
    ),
    (
        "The wifi password is taped under the router.",
        "I took the slip with the wifi password off the router and put it in the blue folder.",
        "Where is the wifi password?",
    ),
    (
        "Our dentist is Dr. Pinheiro.",
        "Dr. Pinheiro retired; our dentist is Dr. Vogel.",
        "Who is our dentist?",
    ),
    (
        "The backups go to the NAS in the cellar.",
        "After the flood the backups go to a bucket in Frankfurt, not to the NAS.",
        "Where do the backups go?",
    ),
    (
        "Mina plays the violin in the youth orchestra.",
        "Mina swapped her violin for a viola.",
        "Which instrument does Mina play?",
    ),
    ("Standup is at 9:30 every morning.", "Standup moved to 10:15.", "When is standup?"),
    (
        "Grandpa takes 5 mg of ramipril.",
        "The cardiologist doubled grandpa's ramipril to 10 mg.",
        "How much ramipril does grandpa take?",
    ),
    ("The rent is 1,150 euros a month.", "From July on the rent is 1,240 euros.", "How much is the rent?"),
    (
        "Lena is in charge of the newsletter.",
        "Lena passed the newsletter on to Joris.",
        "Who is in charge of the newsletter?",
    ),
    (
        "My gym is FitHaus on Bergstrasse.",
        "Cancelled FitHaus, I go swimming at the Nordbad instead.",
        "Which gym do I go to?",
    ),
    (
        "The office cat sleeps in the server room.",
        "They locked the server room, so the office cat sleeps on the reception sofa.",
        "Where does the office cat sleep?",
    ),
    (
        "Our bank is Sparkasse Nord.",
        "We closed the account at Sparkasse Nord and are with Triodos.",
        "Which bank are we with?",
    ),
    (
        "Tariq drinks his coffee with two sugars.",
        "Tariq gave up sugar and drinks his coffee black.",
        "How does Tariq drink his coffee?",
    ),
)
UNCHANGED: Final[tuple[Told, ...]] = (
    ("Ann lives in Lyon.", "Ann works for Peugeot in Paris now.", "Where does Ann live?"),
    ("Ann lives in Lyon.", "Ann's brother lives in Nice.", "Where does Ann live?"),
    ("Ann lives in Lyon.", "Bob has moved to Berlin.", "Where does Ann live?"),
    ("I live in Lyon.", "My friend Tom moved from Lyon to Berlin.", "Where do I live?"),
    (
        "We drive an old Volvo estate.",
        "We might replace the Volvo with an electric car next year.",
        "Which car do we drive?",
    ),
    (
        "Karim works at Halvorsen Shipping.",
        "Jo heard that Karim may leave Halvorsen.",
        "Where does Karim work?",
    ),
    ("The rent is 950 euros.", "Is the rent still 950 euros?", "How much is the rent?"),
    ("Anton's birthday is on 21 July.", "Anton returned the cake tin.", "When is Anton's birthday?"),
    (
        "The red bike is in the cellar.",
        "The blue bike was moved from the cellar to the garage.",
        "Where is the red bike?",
    ),
    ("Priya's flight lands at 18:40.", "Priya's new suitcase is green.", "When does Priya's flight land?"),
    ("The boiler is serviced by Kessel & Co.", "The boiler room was painted.", "Who services the boiler?"),
)

CHANGES_UNSEEN: Final[tuple[Told, ...]] = (
    (
        "Dad is on 20 mg of simvastatin.",
        "The doctor replaced dad's simvastatin with rosuvastatin.",
        "Which cholesterol pill is dad on?",
    ),
    (
        "I see Dr. Amsel for my back.",
        "Instead of Dr. Amsel I see a physio in Moabit.",
        "Who do I see for my back?",
    ),
    (
        "Petra lives with her aunt in Graz.",
        "Petra has her own flat in Linz, no longer with her aunt.",
        "Where does Petra live?",
    ),
    (
        "Our office is on the third floor of the Meridian building.",
        "We left the Meridian building, our office is above the bakery in Hill Street.",
        "Where is our office?",
    ),
    (
        "Sven is a nurse at St. Olav.",
        "Sven hung up his scrubs at St. Olav and trains as a carpenter.",
        "What is Sven's job?",
    ),
    (
        "My laptop is a ThinkPad from 2019.",
        "The ThinkPad died, I type this on a MacBook Air.",
        "Which laptop do I have?",
    ),
    (
        "The guest wifi is called Walrus.",
        "The guest wifi is now called Penguin.",
        "What is the guest wifi called?",
    ),
    (
        "The passports are in the top drawer of the desk.",
        "I put the passports in the safe at the bank.",
        "Where are the passports?",
    ),
    (
        "Mochi the cat gets wet food from Felini twice a day.",
        "Mochi refuses Felini since last week, so it's tuna for her.",
        "What food does Mochi get?",
    ),
    (
        "The billing database is PostgreSQL 13.",
        "We upgraded the billing database from PostgreSQL 13 to 16.",
        "Which PostgreSQL does the billing database run?",
    ),
    (
        "The thesis must be handed in by 1 June.",
        "The faculty pushed the thesis deadline back, 15 July it is.",
        "When must the thesis be handed in?",
    ),
    (
        "The conference takes place in Ghent.",
        "The conference was moved out of Ghent, Leuven hosts it.",
        "Where does the conference take place?",
    ),
    ("Nadia is engaged to Felix.", "Nadia and Felix called it off.", "Who is Nadia engaged to?"),
    (
        "Marek is the treasurer of the club.",
        "Marek stepped down and Ilse is the treasurer of the club.",
        "Who is the treasurer of the club?",
    ),
    (
        "The kids' bedtime is eight o'clock.",
        "Summer rules: the kids' bedtime is nine o'clock.",
        "When is the kids' bedtime?",
    ),
    (
        "I pay 14.99 a month for the music service.",
        "The music service raised its price, I pay 17.99 a month.",
        "How much do I pay for the music service?",
    ),
    (
        "The spare tyre hangs in the shed.",
        "Gunnar borrowed the spare tyre from the shed.",
        "Where is the spare tyre?",
    ),
    (
        "Tickets for support go to Amina.",
        "Amina is on leave until spring; support tickets go to Bogdan.",
        "Who gets the support tickets?",
    ),
    (
        "The deploy key lives in the Vaultwarden folder Ops.",
        "Vaultwarden is gone, the deploy key lives in 1Password.",
        "Where does the deploy key live?",
    ),
    ("Joel smokes a pipe.", "Joel quit the pipe on his doctor's advice.", "Does Joel smoke a pipe?"),
    (
        "The plants are watered by Mrs. Okafor when we travel.",
        "Mrs. Okafor moved away, her son waters the plants when we travel.",
        "Who waters the plants when we travel?",
    ),
    (
        "Robin's locker code is 4471.",
        "Robin changed the locker code to 9028.",
        "What is Robin's locker code?",
    ),
)
UNCHANGED_UNSEEN: Final[tuple[Told, ...]] = (
    ("Petra lives in Graz.", "Petra's firm has a new office in Vienna.", "Where does Petra live?"),
    ("Petra lives in Graz.", "Oskar lives in Salzburg now.", "Where does Petra live?"),
    ("Sven works at the hospital.", "Sven's wife works at the airport now.", "Where does Sven work?"),
    ("My car is a blue Golf.", "I am thinking of selling the Golf.", "Which car do I have?"),
    ("Marek is the treasurer of the club.", "The club has a new logo.", "Who is the treasurer of the club?"),
    (
        "The thesis must be handed in by 1 June.",
        "Rumour has it that the thesis deadline may be pushed to July.",
        "When must the thesis be handed in?",
    ),
    ("Mochi the cat eats tuna.", "Mochi scratched the new sofa.", "What does Mochi eat?"),
    (
        "The kitchen lamp needs an E14 bulb.",
        "The hall lamp was changed to an E27 bulb.",
        "Which bulb does the kitchen lamp need?",
    ),
    ("My sister plays the harp.", "My brother sold his harp.", "Which instrument does my sister play?"),
    ("The invoice is due on 5 May.", "When was the last invoice due?", "When is the invoice due?"),
    ("Robin's locker code is 4471.", "Robin moved from Bonn to Trier.", "What is Robin's locker code?"),
)
