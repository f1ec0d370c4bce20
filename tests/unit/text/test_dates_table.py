"""English time expressions with the days they mean, and sentences that have none.

A line is a sentence with its expression in brackets and the days. The day it is said on is Wednesday, 24 May
2023, unless the line gives another after "@". "~" marks a message rather than a question about the past.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from eidet.text.dates import Dated, dates_in

TABLE = """
The invoice is dated [2023-05-08]. | 2023-05-08
Logged at [2023-05-08T10:15:00Z] by the server. | 2023-05-08
The file says [2023/05/08]. | 2023-05-08
We signed it on [13/04/2021]. | 2021-04-13
We signed it on [4/13/2021]. | 2021-04-13
We signed it on [8/5/2023]. | 2023-08-05
She was born on [13.04.1990]. | 1990-04-13
It started on [3/27] and went well. | 2023-03-27
The release of [2023-05] was late. | 2023-05-01..2023-05-31
I moved here on [8 May 2023]. | 2023-05-08
I moved here on [May 8th, 2023]. | 2023-05-08
I moved here on [May 8, 2023]. | 2023-05-08
I moved here on [8th of May 2023]. | 2023-05-08
I moved here on [the 8th of May, 2023]. | 2023-05-08
I moved here on [Monday, May 8, 2023]. | 2023-05-08
I moved here on [Monday, May 8]. | 2023-05-08
What did I do on [May 8]? | 2023-05-08
What did I do on [June 8]? | 2022-06-08
What did I do on [Dec. 24]? | 2022-12-24
What did I do on [12 October]? | 2022-10-12
We had snow on [Feb 29]. | 2020-02-29
He was hired in [May 2023]. | 2023-05-01..2023-05-31
He was hired in [May of 2021]. | 2021-05-01..2021-05-31
He was hired in [Sept 2021]. | 2021-09-01..2021-09-30
He was hired in [October, 2019]. | 2019-10-01..2019-10-31
He was hired in [March]. | 2023-03-01..2023-03-31
He was hired in [march]. | 2023-03-01..2023-03-31
He was hired in [November]. | 2022-11-01..2022-11-30
He was hired in [May]. | 2023-05-01..2023-05-31
Which books did I read in [January]? | 2023-01-01..2023-01-31
He was hired in [2019]. | 2019-01-01..2019-12-31
During [2020] we stayed home. | 2020-01-01..2020-12-31
Back in [the year 2001] it was new. | 2001-01-01..2001-12-31
I ran [today]. | 2023-05-24
I am cooking [tonight]. | 2023-05-24
I ran [yesterday]. | 2023-05-23
I ran [yesterday evening]. | 2023-05-23
I run [tomorrow]. | 2023-05-25
I ran [the day before yesterday]. | 2023-05-22
I fly [the day after tomorrow]. | 2023-05-26
I ran [this morning]. | 2023-05-24
I ran [last night]. | 2023-05-23
We met [exactly two weeks ago]. | 2023-05-10
We met [precisely one month ago]. | 2023-04-24
We met on [Friday last week]. | 2023-05-19
We met on [Monday of this week]. | 2023-05-22
We met on [Tuesday the week before last]. | 2023-05-09
We met [last week on Friday]. | 2023-05-19
We met [last week's Tuesday]. | 2023-05-16
We met [between the 2nd and the 9th of April]. | 2023-04-02..2023-04-09
We met [from the 2nd to the 9th of April 2022]. | 2022-04-02..2022-04-09
We met on [the first of May]. | 2023-05-01
We met on [the twenty-first of April]. | 2023-04-21
We met on [the thirtieth of March 2021]. | 2021-03-30
We met [last Tuesday]. | 2023-05-23
We met [last Wednesday]. | 2023-05-17
We met [last Friday]. | 2023-05-19
We met [last Friday night]. | 2023-05-19
I see her [this Friday]. | 2023-05-26
I will see her [next Friday]. | 2023-05-26
I will see her [next Tuesday]. | 2023-05-30
It arrived [this past Saturday]. | 2023-05-20
It will arrive [this coming Saturday]. | 2023-05-27
What did I do on [Friday]? | 2023-05-19
What did I do on [Monday]? | 2023-05-22
I will call her [next week]. | 2023-05-29..2023-06-04
I called her [last week]. | 2023-05-15..2023-05-21
I called her [this week]. | 2023-05-22..2023-05-28
I called her [last month]. | 2023-04-01..2023-04-30
I called her [last month]. | 2022-12-01..2022-12-31 @2023-01-05
I called her [this month]. | 2023-05-01..2023-05-31
We move [next month]. | 2024-01-01..2024-01-31 @2023-12-31
I called her [last year]. | 2022-01-01..2022-12-31
We move [next year]. | 2024-01-01..2024-12-31
I hiked [last weekend]. | 2023-05-20..2023-05-21
I hiked [last weekend]. | 2023-05-13..2023-05-14 @2023-05-20
We will hike [this weekend]. | 2023-05-27..2023-05-28
The road is closed [this weekend]. | 2023-05-27..2023-05-28
They closed the road [this weekend]. | 2023-05-20..2023-05-21
We will hike [next weekend]. | 2023-06-03..2023-06-04
What did I buy [last quarter]? | 2023-01-01..2023-03-31
It was [the end of last summer]. | 2022-08-17..2022-08-31
We met at [the end of summer]. | 2022-08-17..2022-08-31
I hiked over [the weekend]. | 2023-05-20..2023-05-21
It happened [3 days ago]. | 2023-05-21
It happened [two days ago]. | 2023-05-22
It happened [a day ago]. | 2023-05-23
It happened [an hour ago]. | 2023-05-24
It happened [14 hours ago]. | 2023-05-23
It happened [two weeks ago]. | 2023-05-07..2023-05-13
It happened [a week ago]. | 2023-05-14..2023-05-20
It happened [a month ago]. | 2023-04-09..2023-05-09
It happened [three months ago]. | 2023-02-09..2023-03-11
It happened [twelve years ago]. | 2011-01-01..2011-12-31
It happened [20 years ago]. | 2003-01-01..2003-12-31
It happened [two weekends ago]. | 2023-05-13..2023-05-14
It happened [two Tuesdays ago]. | 2023-05-16
It happened [two summers ago]. | 2021-06-01..2021-08-31
It happened [a few days ago]. | 2023-05-19..2023-05-22
It happened [a few weeks ago]. | 2023-04-19..2023-05-10
It happened [a couple of days ago]. | 2023-05-21..2023-05-23
It happened [a couple of weeks ago]. | 2023-05-04..2023-05-16
It happened [several years ago]. | 2016-01-01..2020-12-31
It happened [two or three weeks ago]. | 2023-05-03..2023-05-10
It happened [2-3 weeks ago]. | 2023-05-03..2023-05-10
It happened [a fortnight ago]. | 2023-05-07..2023-05-13
It happened [twenty-five days ago]. | 2023-04-28..2023-04-30
It happened [a year and a half ago]. | 2021-10-10..2022-01-08
It happened [half a year ago]. | 2022-10-25..2022-12-24
It happened [a while back]. | 2022-05-24..2023-05-17
I moved here on [8May, 2023]. | 2023-05-08
It happened [a few weeks back]. | 2023-04-19..2023-05-10
We met [the weekend before 8 May]. | 2023-05-06..2023-05-07
We met [the weekend before May 7, 2023]. | 2023-04-29..2023-04-30
We met [the week before 8 May 2023]. | 2023-05-01..2023-05-07
We met [the Friday before 8 May 2023]. | 2023-05-05
We met [the Sunday after May 8, 2023]. | 2023-05-14
We met [the day after Christmas]. | 2022-12-26
We met [the day before May 1st, 2022]. | 2022-04-30
We met [two days before Christmas 2021]. | 2021-12-23
We met [two weeks before August 11, 2022]. | 2022-07-25..2022-07-31
We meet [a week from Friday]. | 2023-06-02
We meet [three days from now]. | 2023-05-27
We met [the week of May 8]. | 2023-05-08..2023-05-14
We met [the week of the 8th of May 2023]. | 2023-05-08..2023-05-14
How much did I spend in [the past three weeks]? | 2023-05-03..2023-05-24
How much did I spend over [the last month]? | 2023-04-24..2023-05-24
How much did I spend in [the last few days]? | 2023-05-19..2023-05-24
How much did I spend in [the past year]? | 2022-05-24..2023-05-24
How much did I spend in [the last 10 days]? | 2023-05-14..2023-05-24
How much did I spend during [the past two months]? | 2023-03-24..2023-05-24
I have lived here [since March]. | 2023-03-01..2023-05-24
I have lived here [since 2019]. | 2019-01-01..2023-05-24
I have lived here [since last summer]. | 2022-06-01..2023-05-24
What happened [before May 2023]? | 2013-04-30..2023-04-30
What happened [after March 2023]? | 2023-04-01..2023-05-24
What happened [between March and May 2023]? | 2023-03-01..2023-05-31
What happened [between November and February]? | 2022-11-01..2023-02-28
What happened [between 3 and 7 May]? | 2023-05-03..2023-05-07
What happened [between 2015 and 2018]? | 2015-01-01..2018-12-31
What happened [from 3 to 7 May]? | 2023-05-03..2023-05-07
What happened [from May 3 to May 7, 2022]? | 2022-05-03..2022-05-07
What happened on [May 3-7, 2022]? | 2022-05-03..2022-05-07
What happened [from Monday to Wednesday]? | 2023-05-22..2023-05-24
It ran [from March to May 2021]. | 2021-03-01..2021-05-31
We swam [last summer]. | 2022-06-01..2022-08-31
We swam [last summer]. | 2023-06-01..2023-08-31 @2023-10-01
We swam [the summer before last]. | 2021-06-01..2021-08-31
We met [the week before last]. | 2023-05-08..2023-05-14
We met [the year before last]. | 2021-01-01..2021-12-31
We met [the weekend before last]. | 2023-05-13..2023-05-14
We meet [the week after next]. | 2023-06-05..2023-06-11
We met in [spring 2022]. | 2022-03-01..2022-05-31
We met in [the fall of 2021]. | 2021-09-01..2021-11-30
We met in [the summer of 2020]. | 2020-06-01..2020-08-31
We met [last winter]. | 2022-12-01..2023-02-28
We met [this spring]. | 2023-03-01..2023-05-31
We met in [early May]. | 2023-05-01..2023-05-10
We met in [mid-April]. | 2023-04-11..2023-04-20
We met in [late March 2022]. | 2022-03-22..2022-03-31
We met at [the beginning of June 2022]. | 2022-06-01..2022-06-10
We met at [the end of April]. | 2023-04-21..2023-04-30
We met [earlier this month]. | 2023-05-01..2023-05-24
We met [earlier this year]. | 2023-01-01..2023-05-24
We meet [later this week]. | 2023-05-24..2023-05-28
We met in [late 2021]. | 2021-09-02..2021-12-31
We met in [the 90s]. | 1990-01-01..1999-12-31
We met in [the 1980s]. | 1980-01-01..1989-12-31
We met in [the early 2000s]. | 2000-01-01..2003-05-01
We met in [the nineties]. | 1990-01-01..1999-12-31
What did I get for [Christmas]? | 2022-12-25
What did I get for [Christmas 2020]? | 2020-12-25
What did I do on [New Year's Eve]? | 2022-12-31
What did I do on [Halloween]? | 2022-10-31
What did I do at [Thanksgiving]? | 2022-11-24
What did I do at [Easter]? | 2023-04-09
What did I do on [Valentine's Day]? | 2023-02-14
What did I do on [Valentine’s Day 2021]? | 2021-02-14
What did I do [last Christmas]? | 2022-12-25
What did I do on [Mother's Day]? | 2023-05-14
Revenue in [Q3 2024] was flat. | 2024-07-01..2024-09-30
Revenue in [the second quarter of 2022] was flat. | 2022-04-01..2022-06-30
Revenue in [Q1] was flat. | 2023-01-01..2023-03-31
It rained in [the first week of April]. | 2023-04-01..2023-04-07
It rained on [the last Friday of April 2023]. | 2023-04-28
It rained on [the second Tuesday of May 2023]. | 2023-05-09
It rained in [the first half of 2022]. | 2022-01-01..2022-07-02
I met her [the other day]. | 2023-05-17..2023-05-23
I have been running [recently]. | 2023-04-24..2023-05-24
We talked on [the 15th]. | 2023-05-15
We talked on [the 15th] after my trip. | 2023-05-15
I have had them for [3 years now]. | 2020-05-24..2023-05-24
My flight leaves on [the 3rd of June 2024]. | 2024-06-03
Back in [summer '19] we lived in Oslo. | 2019-06-01..2019-08-31
We adopted him about [five months ago]. | 2022-12-09..2023-01-08
She graduated in [the spring of 2018]. | 2018-03-01..2018-05-31
They got married on [July 4th, 2015]. | 2015-07-04
I was there [from 2012 until 2015]. | 2012-01-01..2015-12-31
What did I eat [the night before last]? | 2023-05-22
We started in [the late 1990s]. | 1996-09-01..1999-12-31
It broke on [Tuesday night]. | 2023-05-23
I have not slept [since Sunday]. | 2023-05-21..2023-05-24
He called [three Fridays ago]. | 2023-05-05
My birthday was [the week before last]. | 2023-05-08..2023-05-14
I saw it [the weekend of May 6]. | 2023-05-06..2023-05-07
We met [the Saturday before Easter]. | 2023-04-08
What happened in [the second half of April]? | 2023-04-16..2023-04-30
The report covers [January through March 2022]. | 2022-01-01..2022-03-31
It was due by [the end of last month]. | 2023-04-21..2023-04-30
I paid on [12/24/2022]. | 2022-12-24
I paid on [2022.12.24]. | 2022-12-24
We spoke [a couple days ago]. | 2023-05-21..2023-05-23
We spoke [the day after Thanksgiving]. | 2022-11-25
We spoke [one year ago]. | 2022-01-01..2022-12-31
We spoke [this past week]. | 2023-05-17..2023-05-24
We spoke within [the last 48 hours]. | 2023-05-22..2023-05-24
We spoke at [the start of the year]. | 2023-01-01..2023-03-01
We spoke in [mid 2021]. | 2021-05-03..2021-08-31
We spoke [two years before 2019]. | 2017-01-01..2017-12-31
I was born in [March of 1988]. | 1988-03-01..1988-03-31
I was born in [1988]. | 1988-01-01..1988-12-31
The sale ran [Nov 3 - Nov 7, 2022]. | 2022-11-03..2022-11-07
The sale ran [between May 3rd and May 7th]. | 2023-05-03..2023-05-07
We saw it [last New Year's Eve]. | 2022-12-31
We will see it [next Halloween]. | 2023-10-31
Which shows did I see [this year]? | 2023-01-01..2023-12-31
Which shows did I see in [the last six months]? | 2022-11-24..2023-05-24
Which shows did I see in [Q4 of 2022]? | 2022-10-01..2022-12-31
Which shows did I see [earlier this week]? | 2023-05-22..2023-05-24
Which shows did I see on [Sept. 3rd]? | 2022-09-03
Which shows did I see [last spring]? | 2022-03-01..2022-05-31
Which shows did I see [a decade ago]? | 2013-01-01..2013-12-31
I bought it [ten days ago]. | 2023-05-14
I bought it [the previous week]. | 2023-05-15..2023-05-21
I bought it over [the past weekend]. | 2023-05-20..2023-05-21
It rained on [the last Monday of April 2023]. | 2023-04-24
What did I do on [Memorial Day]? | 2022-05-30
It was [Tuesday, May 8]. | 2018-05-08
~ We met on [Monday], will you call? | 2023-05-22
~ We had dinner on [Friday]. | 2023-05-19
~ I will have dinner on [Friday]. | 2023-05-26
~ We're going to Rome in [August]. | 2023-08-01..2023-08-31
~ We went to Rome in [August]. | 2022-08-01..2022-08-31
~ My exam is on [June 3]. | 2023-06-03
~ My exam was on [June 3]. | 2022-06-03
~ The party is [in two weeks]. | 2023-06-04..2023-06-10
~ I leave [in three days]. | 2023-05-27
~ Rent is paid [until June 30]. | 2023-05-24..2023-06-30
"""

NOTHING = """
May I come in?
You may want to march on with the others.
They march every time.
May your tailored application win.
It may be that we may not.
Give me a second, please.
Theresa May said no.
Augusta March called her mother.
April went home and cried.
June is my best friend.
Auntie May's cake is the best.
I met June and April at the pool.
The august assembly rose.
10/10 would do it again.
The cake got 9/10 from me.
Add 3/4 cup of milk and 1/2 cup of sugar.
Version 1.2.3 is out, and 10.12.23 too.
Python 3.11.2 has a bug.
The server is at 192.168.1.20 now.
Call me at 555-123-4567.
Call +49 30 2019 2020 for help.
It costs $2019 in total.
It costs 2,019 dollars.
I need 2000 words by then.
There were about 2000 people in the hall.
I scored in 1500 games.
My bike has 2021 km on it.
The summer intern made coffee.
Our summer house has a spring in the garden.
The fall of Rome was long.
I had a bad fall on the stairs.
Spring rolls are tasty.
The sun was hot and the cat sat on the mat.
She wed him in secret.
The car came second.
He is 20 years old.
A 10-year-old girl won.
I slept for three hours.
She has worked here for three years.
We play every Friday.
We go camping every summer.
On Fridays we dance.
I get up at 5 pm.
The meeting takes 90 minutes.
Last but not least, thank you.
That was the last straw.
I was last in line.
Next time I will win.
What is the next step?
In the past I was shy.
The past is gone.
I am on the 8th floor.
This is my 3rd attempt.
He lives on 5th Avenue.
It was my second try this time.
He ran past the house.
We are at the end of the road.
At the end of the day it is your choice.
In the middle of nowhere.
I started early.
I will do that later.
As I said earlier, no.
Before I forget, thank you.
After dinner we walked.
Since you asked, yes.
Until we meet again.
I moved between two chairs.
From one to ten, how bad?
The Christmas tree is green.
Merry Christmas to you!
I bought a Halloween costume.
Wrap the Easter eggs.
How many days ago did I meet her?
How many weeks passed?
A week is seven days.
She works day and night.
It took me years.
The monthly fee is low.
A new year, a new me.
Order number 20230508123 was sent.
The room is 8-10 feet wide.
ISBN 978-3-16-148410-0 is the book.
The ratio is 16:9.
It was -5 degrees.
Score: 3-7 in the end.
The road is 2023m long.
The code is A2019 or 2019B.
She likes Sunday Riley, Tip Tuesday and Wednesday Addams.
He may march with us.
I'm second to none.
That's a 5-star hotel.
We live at 2019 Main Street.
The 2020 Olympics were odd but the model X2020 was not.
My PIN is 1999.
Room 2023 is upstairs.
He wore a winter coat.
Summer is my daughter.
April showers are nice.
Mark and May are friends.
The Sunday Times is a paper.
He turned 30.
It takes 2-3 weeks to arrive.
I have two weeks of vacation.
I was late.
The end of the story.
Earlier I was wrong.
She can spring to action.
Do not fall behind.
I got 3/4 of the way.
The score was 21-14.
I'd give it a 7.5/10.
I'm over the moon.
One day at a time.
We go to church on Sundays.
It's past midnight.
The next morning was cold.
The day before was better.
It was the best week of my life.
The ticket is #2023-05-08.
Give it a quarter turn.
This may include more.
It was on a Friday, I think.
A perfect blend of fall flavors.
It is half past two.
I walked past a house.
"""

NOON = datetime(2023, 5, 24, 12, tzinfo=UTC)


def _cases() -> list[tuple[str, str, int, int, datetime, bool]]:
    return [_case(line) for line in TABLE.strip().splitlines()]


def _case(line: str) -> tuple[str, str, int, int, datetime, bool]:
    marked, _, answer = line.partition(" | ")
    days, _, said = answer.partition(" @")
    first, _, last = days.partition("..")
    past, marked = not marked.startswith("~ "), marked.removeprefix("~ ")
    expression = marked[marked.index("[") + 1 : marked.index("]")]
    now = datetime.combine(date.fromisoformat(said), NOON.timetz()) if said else NOON
    sentence = marked.replace("[", "").replace("]", "")
    return sentence, expression, _ordinal(first), _ordinal(last or first), now, past


def _ordinal(day: str) -> int:
    return date.fromisoformat(day.strip()).toordinal()


def _shown(found: tuple[Dated, ...]) -> list[tuple[str, str, str]]:
    return [(d.text, str(date.fromordinal(d.first)), str(date.fromordinal(d.last))) for d in found]


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(_cases()) >= 150
    assert len(NOTHING.strip().splitlines()) >= 80


@pytest.mark.parametrize("case", _cases(), ids=lambda case: f"{case[0]} {case[4]:%Y-%m-%d}")
def test_an_expression_means_these_days(case: tuple[str, str, int, int, datetime, bool]) -> None:
    sentence, expression, first, last, now, past = case
    found = dates_in(sentence, now, past=past)
    assert _shown(found) == [(expression, str(date.fromordinal(first)), str(date.fromordinal(last)))]


@pytest.mark.parametrize("sentence", NOTHING.strip().splitlines())
def test_a_sentence_without_a_date_has_none(sentence: str) -> None:
    assert _shown(dates_in(sentence, NOON)) == []
    assert _shown(dates_in(sentence, NOON, past=False)) == []
