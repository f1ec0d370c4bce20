"""Pairs of texts, old before new, and what the second is to the first. Written for these tests.

`PAIRS` were in sight while the rules were written; `UNSEEN` were written
afterwards, and no rule was written for them.
"""

from __future__ import annotations

SAME = """
Ann lives in Lisbon. | Ann lives in Lisbon
Ann lives in Lisbon. | ann lives in lisbon!
Ann lives in Lisbon. | Well, Ann lives in Lisbon.
Please remember that Ann lives in Lisbon. | Ann lives in Lisbon.
The meeting is at 5. | The meeting is at five.
The meeting is at 5 pm. | the meeting is at 5pm
My favourite colour is blue. | My favorite color is blue.
My favourite colour is blue. | Blue is my favourite colour.
On Monday the report is due. | The report is due on Monday.
In Lisbon, Ann met Bob. | Ann met Bob in Lisbon.
I really like tea. | I like tea.
I like tea and coffee. | I like coffee and tea.
Ann and Bob went to Rome. | Bob and Ann went to Rome.
I don't eat meat. | I do not eat meat.
I don’t eat meat. | I don't eat meat.
Thanks! I work at Acme. | I work at Acme.
Hey, I work at Acme. Thanks! | I work at Acme
The adress is 12 Main Street. | The address is 12 Main Street.
Please recieve the parcel from the porter. | Please receive the parcel from the porter.
The budget is 1,200 euros. | The budget is 1200 euros.
Ann works at Acme. | Ann works for Acme.
He's a doctor. | He is a doctor.
I live in Porto. I have two cats. | I have two cats. I live in Porto.
I have 2 cats. | I have two cats.
The deploy failed because the disk was full. | The deploy failed as the disk was full.
我住在里斯本。 | 我住在里斯本
Я живу в Москве. | я живу в москве
Ich wohne in Berlin! | Ich wohne in Berlin.
Tests run every night. | The tests run every night.
User prefers short answers. | The user prefers short answers.
FYI: the API key expires on May 3. | The API key expires on May 3.
"""

UPDATE = """
Ann moved to Porto. | Ann moved to Lisbon.
She moved to Porto. | She moved to Lisbon.
Ann lives in Porto. | Ann lives in Lisbon.
I live in Porto, Portugal. | I live in Lisbon.
The meeting is at 4. | The meeting is at 5.
The meeting is at 4 pm. | The meeting is at 5:30 pm.
The meeting is on Monday. | The meeting is on Tuesday.
The meeting is on May 3. | The meeting is on May 10.
The meeting starts at 4. | The meeting starts at 5.
Ann likes tea. | Ann no longer likes tea.
Ann likes tea. | Ann doesn't like tea anymore.
Ann doesn't like tea. | Ann likes tea.
I eat meat. | I don't eat meat.
I smoke. | I stopped smoking.
Ann works at Acme. | Ann works at Initech.
Ann works at Acme. | Ann left Acme.
Ann works at Acme. | Ann quit Acme.
The Monday meeting is at 4. | The Monday meeting is cancelled.
My favourite colour is blue. | My favourite colour is green.
My phone number is 555-1234. | My phone number is 555-9876.
The password is swordfish. | The password is marlin.
My name is Ann. | My name is Anna.
The budget is 1200 euros. | The budget is 1500 euros.
I have two cats. | I have three cats.
I weigh 80 kg. | I weigh 78 kg.
The server is up. | The server is down.
The shop is open. | The shop is closed.
The light is on. | The light is off.
Ann is in Porto. | Ann is in Lisbon.
The deadline is Friday. | The deadline is Monday.
The deadline was moved to Friday. | The deadline was moved to Monday.
The report is due by Friday. | The report is due on Monday.
Ann will move to Lisbon. | Ann moved to Lisbon.
Ann might move to Lisbon. | Ann moved to Lisbon.
Ann loves tea. | Ann hates tea.
I bought three apples. | Actually, I bought four apples.
I drive a Volvo. | I drive a Tesla.
I use vim. | I use emacs.
I prefer tea. | I prefer coffee.
The CEO is Ann. | The CEO is Bob.
The status of the ticket is pending. | The status of the ticket is approved.
Version 1.2 is deployed. | Version 1.2 is not deployed.
Ann is married. | Ann is divorced.
The flight leaves at 10:15. | The flight leaves at 11:40.
The rent is 900 euros a month. | The rent is 950 euros a month.
Dentist: Tuesday 3 pm | Dentist: Wednesday 3 pm
I am vegan. | I am not vegan anymore.
I have a car. | I sold my car.
The port is 8080. | The port is 9090.
The launch is scheduled for June 1. | The launch is scheduled for July 1.
Ann lives in Porto. She has a dog. | Ann lives in Lisbon. She has a dog.
I like tea. | I don't like tea anymore. I drink water.
Die Miete beträgt 900 Euro. | Die Miete beträgt 950 Euro.
Ann was promoted to director. | Ann was promoted to vice president.
We use PostgreSQL for storage. | We switched to MySQL for storage.
The standup is before lunch. | The standup is after lunch.
My boss is Carla. | My boss is Dora.
"""

DIFFERENT = """
Ann lives in Lisbon. | Bob lives in Lisbon.
Ann likes tea. | Ann likes coffee.
I like tea. | She likes tea.
Ann visited Porto. | Ann visited Lisbon.
Ann loves Bob. | Bob loves Ann.
Ann is taller than Bob. | Bob is taller than Ann.
Ann is Bob's boss. | Bob is Ann's boss.
The flight goes from Porto to Lisbon. | The flight goes from Lisbon to Porto.
The dog bit the man. | The man bit the dog.
I bought a house. | I bought a horse.
I ordered dessert. | I ordered desert.
Ann has a dog. | Ann has a cat.
On May 3 Ann visited the dentist. | On May 10 Ann visited the dentist.
I ran 5 km. | I ran 6 km.
Ann bought 3 apples. | Ann bought 4 apples.
Does Ann like tea? | Ann likes tea.
Does Ann like tea? | Does Ann like coffee?
Ann likes tea. | Ann likes tea but not coffee.
Ann moved to Lisbon. | Ann moved to Lisbon in May with her two cats.
Ann moved to Lisbon in May. | Ann moved to Lisbon.
The meeting is at 4. | The meeting is in room B.
The meeting is on Monday. | The meeting is about budgets.
The Monday meeting is at 4. | The Friday meeting is at 4.
Ann's phone number is 5551234. | Bob's phone number is 5551234.
The budget of project Apollo is 500. | The budget of project Gemini is 500.
Ann works at Acme. | Ann works as a nurse.
Ann lives in Porto. | Ann lives with Bob.
Ann is tall. | Ann is happy.
Ann is a doctor. | Ann is a mother.
I speak French. | I speak German.
I play the piano. | I play the guitar.
I will buy milk. | I will buy bread.
The report is ready. | The report is long.
Ann called Maria. | Ann called Marie.
I saw Ann yesterday. | I saw Bob yesterday.
Ann told me about her trip to Rome. | Ann told me about her new job.
The weather in Porto is nice. | Ann lives in Porto.
I read Dune. | I read Emma.
My sister lives in Rome. | My brother lives in Rome.
My sister's birthday is May 3. | My mother's birthday is May 10.
The cat is asleep on the sofa. | The quarterly numbers look good.
Ann ate pizza on Friday. | Ann ate sushi on Friday.
We watched a film about whales. | We watched a film about wolves.
Ann used to live in Porto. | Ann used to live in Lisbon.
He has a red car. | He has a red bike.
Ann walked to the office. | Ann walked from the office.
The door code of the office is 1234. | The door code of the garage is 4321.
I love hiking in the Alps. | I love hiking in the Andes.
Bob went to the gym at 6. | Bob went to the gym at 7.
Ann wrote a book about Rome. | Ann wrote a book about Paris.
Error 404 occurred in module a. | Error 500 occurred in module b.
我喜欢茶 | 我喜欢咖啡
Я живу в Москве. | Я работаю в Москве.
Ann met Bob in 2019. | Ann met Carl in 2019.
Our son started school. | Our daughter started school.
I have a meeting with Ann on Monday. | I have a meeting with Bob on Monday.
Ann is from Spain. | Ann is from work.
You live in Porto. | I live in Porto.
The train to Porto leaves at 9. | The train to Lisbon leaves at 10.
All tests pass on main. | Some tests pass on main.
"""

MORE = """
same | I moved to Berlin in March. | In March I moved to Berlin.
same | Could you remind me: the wifi code is blue42? | the wifi code is blue42?
same | Carla can't swim. | Carla cannot swim.
same | The invoice INV-2291 was paid. | Invoice INV-2291 was paid.
same | Peter has a sister. | Peter has got a sister.
same | We agreed on Python and Rust. | We agreed on Rust and Python.
same | Ok, the office opens at nine. | The office opens at 9.
same | Sam is allergic to peanuts. | Sam is really allergic to peanuts!
same | El perro duerme. | el perro duerme!
same | The backup runs at 02:00 every night. | The backup runs every night at 02:00.
update | The office opens at nine. | The office opens at ten.
update | Peter works in sales. | Peter works in marketing.
update | Sam is allergic to peanuts. | Sam is not allergic to peanuts.
update | The invoice is unpaid. | The invoice is paid.
update | Our landlord is Mr Brown. | Our landlord is Mrs Green.
update | My flight to Oslo departs at 7:10. | My flight to Oslo departs at 8:45.
update | Carla studies physics. | Carla studies law.
update | I want to quit my job. | I quit my job.
update | The team meets on Thursdays. | The team meets on Fridays now.
update | Kim is pregnant. | Kim is no longer pregnant.
update | My salary is 50000. | My salary is 55000.
update | The wifi code is blue42. | The wifi code is green17.
update | We plan to launch in June. | We plan to launch in August.
update | Peter and Carla are engaged. | Peter and Carla are married.
update | The conference takes place in Oslo. | The conference takes place in Bergen.
update | I go to the gym. | I don't go to the gym anymore.
update | Tom's car is red. | Tom's car is now blue.
update | The default model is small. | The default model is large.
different | Peter works in sales. | Carla works in sales.
different | Sam is allergic to peanuts. | Sam is allergic to cats.
different | Kim gave Lee a book. | Lee gave Kim a book.
different | The backup of disk A runs at 2. | The backup of disk B runs at 3.
different | I met Peter in Oslo. | I met Peter in Bergen.
different | My mother is a teacher. | My mother is Italian.
different | We had pasta for dinner. | We had pizza for dinner.
different | Tom borrowed 20 euros. | Tom borrowed 50 euros.
different | Carla reads science fiction. | Carla reads poetry.
different | I need to call Peter. | I need to call Carla.
different | The invoice from Acme is paid. | The invoice from Initech is paid.
different | Is the office open? | The office is open.
different | He wants to learn Spanish. | She wants to learn Spanish.
different | Kim finished the draft on Monday. | Kim finished the review on Monday.
different | The bug is in the parser. | The bug is hard to find.
different | Lee plays chess with Kim. | Lee plays chess with Tom.
different | I dreamt of a whale. | I dreamt of a lion.
different | The red team won the first match. | The blue team won the second match.
different | My car is in the garage. | My car is a Volvo.
different | Tom thinks that Kim is right. | Kim thinks that Tom is right.
different | Buy milk. | Buy eggs.
different | Ticket 12 is blocked by ticket 15. | Ticket 15 is blocked by ticket 12.
"""

KEPT_ASIDE = """
same | The staging database lives on host db2. | the staging database lives on host db2
same | Never push to main on Fridays. | Please never push to main on Fridays!
same | Julia's son is called Max. | Julia’s son is called Max.
same | At 9 the doors open. | The doors open at 9.
same | The customer asked for a refund. | Customer asked for a refund.
same | I'm learning Japanese. | I am learning Japanese.
same | Pay the plumber 120 euros. | Pay the plumber 120 euros, please.
same | Marta and Jo are friends. | Jo and Marta are friends.
same | The order number is 7741. | Order number is 7741.
same | У меня две кошки. | у меня две кошки!
update | The staging database lives on host db2. | The staging database lives on host db3.
update | The retry limit is 3. | The retry limit is 5.
update | Julia drinks coffee. | Julia no longer drinks coffee.
update | The doors open at 9. | The doors open at 10.
update | We deploy on Tuesdays. | We don't deploy on Tuesdays.
update | Marta is single. | Marta is engaged.
update | The feature flag is enabled. | The feature flag is disabled.
update | My dentist appointment is on 4 May. | My dentist appointment is on 11 May.
update | Jo works for Google. | Jo works for Apple.
update | Tickets cost 20 euros. | Tickets cost 25 euros.
update | I subscribe to the newsletter. | I cancelled the newsletter.
update | The capital of the game world is Arda. | The capital of the game world is Belo.
update | Team lead: Ann | Team lead is now Bob
update | Max goes to primary school. | Max doesn't go to primary school anymore.
update | The health of the agent is 80. | The health of the agent is 35.
update | The user wants answers in English. | The user wants answers in French now.
update | The package will arrive on Monday. | The package will arrive on Thursday.
update | The build is failing. | The build is not failing.
different | Julia's son is called Max. | Julia's dog is called Rex.
different | The agent moved north. | The agent attacked the troll.
different | The retry limit is 3. | The timeout limit is 3.
different | Jo knows Python. | Jo knows Rust.
different | Marta gave 10 euros to Jo. | Jo gave 10 euros to Marta.
different | Step 4: picked up the key. | Step 5: picked up the lamp.
different | I felt sad on Monday. | I felt happy on Tuesday.
different | The customer asked for a refund. | The customer asked for an invoice.
different | I want a puppy. | I want a bicycle.
different | Max broke his arm. | Max broke his leg.
different | We saw a whale near Lisbon. | We saw a dolphin near Lisbon.
different | Julia recommended the film Alien. | Julia recommended the film Heat.
different | My grandmother lives in Rome. | My grandfather lives in Milan.
different | The test for login passes. | The test for logout fails.
different | Use tabs in Makefiles. | Use spaces in Python files.
different | Paris is bigger than Rome. | Rome is bigger than Paris.
different | The order of Jo is 7741. | The order of Max is 7742.
different | Marta sold 5 paintings in May. | Marta sold 7 paintings in June.
different | Can you book a table for two? | Can you book a table for four?
different | Jo is a good cook. | Jo is a bad driver.
different | I owe Max 20 euros. | Max owes me 20 euros.
different | It rained on Monday. | It rained on Tuesday.
"""


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


PAIRS: list[tuple[str, str, str]] = [
    (wanted, old, new)
    for wanted, table in (("same", SAME), ("update", UPDATE), ("different", DIFFERENT))
    for old, new in _rows(table)
]
PAIRS += [(wanted, old, new) for wanted, old, new in _rows(MORE)]
UNSEEN: list[tuple[str, str, str]] = [(wanted, old, new) for wanted, old, new in _rows(KEPT_ASIDE)]
