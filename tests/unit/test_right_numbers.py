"""Sentences with numbers as a chat model writes them: right ones keep their footnote, and get no warning."""

from __future__ import annotations

import pytest

from core.answering.citations import Sources
from core.answering.claims import SAID, Evidence
from core.answering.markup import read
from core.answering.verdict import weighed

BACKUPS = """## Backups

The server makes a backup every 6 hours and keeps the last 14 of them. A backup of the example database of 240 MB takes
about 3 minutes on a machine with 2 cores. Backups older than 30 days are moved to cold storage, from where a restore
takes up to 12 hours. At most 4 backups run at once."""
PLANS = """## Plans and limits

The free plan allows 3 projects and 1,000 requests a day. The team plan costs $12 a month for each person and allows
25 projects and 50,000 requests a day. The enterprise plan has no such limits. Files may be up to 512MB large, on the
free plan 20MB. Accounts that were not used for 18 months are deleted 30 days after a warning by mail."""
SETUP = """## Installation

You need Python 3.10 or newer and 4 GB of memory.

1. Clone the repository.
2. Install the dependencies with `pip install -r requirements.txt`.
3. Start the server with `python serve.py --port 8080`.

The first start takes 2 to 3 minutes, as it downloads a model of 1.3 GB. Later ones take 10 seconds."""
RELEASES = """## Release 2.4.1 (2023-10-05)

- The default of `max_connections` rose from 100 to 250 (#1312).
- Timeouts are now 30 s instead of 10 s.
- Support for Python 3.8 was dropped; the oldest version that works is 3.9.

## Release 2.4.0 (2023-08-21)

- Searches are 40 % faster.
- Fixed 17 bugs."""
COURSE = """# Grading

The course runs for 13 weeks with two lectures a week, of ninety minutes each. The final project counts for 40% of
the grade, the midterm exam for 25%, five assignments for 5 % each, and participation for the remaining 10%. To pass
you need 50% in total. A late assignment loses 10 points a day, for at most three days. The midterm is in the
seventh week."""
LIDAR = """## Sensors

| Sensor | Range | Rate | Power |
|---|---|---|---|
| Lidar X2 | 8 m | 7 Hz | 1.5 W |
| Lidar X4 | 10 m | 12 Hz | 1.9 W |
| Camera D435 | 3 m | 30 Hz | 3.5 W |

The lidars scan 360 degrees. Accuracy is 1.95 cm below 2 m. The camera has a resolution of 1280 x 720 pixels."""
COSTS = """## Sample lab configuration (20 students)

| Item | Number | Each | Together |
|---|---|---|---|
| Workstations | 20 | $3,000 | $60,000 |
| Robots | 4 | $3,000 | $12,000 |
| Kits | 20 | $850 | $17,000 |
| **Total** | | | **$89,000** |

One of 20 students has no laptop, and can borrow one; that costs €90 for the 12 weeks."""
TEAM = """# About us

The company was founded in 1998 by three students in Leeds. In 2010 it moved to a larger office, and it had 1,247
employees at the end of 2022, of which 38 % work on software. Revenue was 198.6 million euros in 2022, after 171.2
million the year before. It has offices in:

- Leeds
- Porto
- Toronto
- Osaka"""
KERNEL = """### Kernel settings

Set `net.core.rmem_max` to 2147483647 if messages are large. The default of 212992 bytes is too small for images.
`ipfrag_time` is 30 s by default; reduce it to 3 s on lossy networks. Port 7400 is used for discovery, and ports from
7410 upwards for data. The domain ID must lie between 0 and 101. ROS 2 Humble needs Ubuntu 22.04, Foxy needs 20.04."""

LIBRARY = """# Library rules

Adults may borrow up to 12 books for four weeks, children up to 20 books for six weeks. Films are lent for 7 days
only. Each overdue day costs 30 cents for adults and 10 cents for children, but never more than 15 euros. You can
extend a loan twice, unless somebody has reserved the book. Opening hours are 10:00 to 19:00 from Tuesday to Friday
and 10:00 to 14:00 on Saturday."""
RATES = """## Rate limits

Each key may send 600 requests per minute; bursts of up to 50 requests in one second are tolerated. Above that, the
API answers with status 429 and a `Retry-After` header, usually of 5 to 30 seconds. Uploads are limited to 100 MB per
file and 2 GB per day. Pages hold 50 items by default and at most 200.

| Tier | Requests per minute | Price per month |
|---|---|---|
| Free | 60 | $0 |
| Pro | 600 | $29 |
| Business | 6,000 | $249 |"""
BIKE = """The battery of the M3 holds 522 Wh and charges in 4.5 hours with the 4 A charger; the older M2 holds 418 Wh
and needs 5 hours with the 2 A charger. The motor assists up to 25 km/h. Range is 60 to 110 km depending on the mode.
Tyres need 3.5 bar at the front and 4 bar at the back. The bike weighs 18.9 kg without the battery, which weighs 2.6
kg. Maximum load is 130 kg. The warranty is two years, and five years for the frame."""
BRIDGE = """The bridge was designed in 1903 and opened on 14 June 1907 after three years of work. It spans 412 metres
with five arches, the largest of which is 96 metres wide. In 1944 two arches were destroyed; they were rebuilt by
1951. About 23,400 vehicles crossed it each day in 2019, compared to 18,900 in 2009. The last renovation cost 7.8
million euros and took 26 months."""
REPLICAS = """### Configuring replicas

The deployment starts with 2 replicas and scales up to 10 when CPU use stays above 70% for 5 minutes. It scales down
after 15 minutes below 30%. Each pod requests 250m CPU and 512Mi of memory, with a limit of 1 CPU and 1Gi. The
readiness probe calls `/healthz` on port 8080 every 10 seconds and fails after 3 attempts. Version 1.27 or later of
Kubernetes is needed; tested up to 1.30."""
DOSAGE = """# Dosage

Adults take 400 mg every 6 to 8 hours with food, at most 1,200 mg a day. Children from 6 to 9 years (20 to 29 kg) take
200 mg, up to three times a day. Do not take it for more than 3 days without a doctor's advice. Store below 25 °C. One
tablet contains 400 mg of the substance and 35 mg of lactose. In studies, 1 of 10 people had nausea, and fewer than 1
of 1,000 had a rash."""

RIGHT = [
    (BACKUPS, "A backup is made every 6 hours, and only the most recent 14 are kept"),
    (BACKUPS, "Backing up the 240MB example database takes around 3 minutes on two cores"),
    (BACKUPS, "On a dual-core machine (2 cores), the 240 MB example finishes in roughly 3 minutes"),
    (BACKUPS, "After 30 days a backup goes to cold storage"),
    (BACKUPS, "Restoring from cold storage can take as long as 12 hours"),
    (BACKUPS, "No more than 4 backups can be running at the same time"),
    (BACKUPS, "The server keeps 14 backups, one for each 6-hour period"),
    (BACKUPS, "Once a backup is more than 30 days old, expect up to 12 h to get it back"),
    (PLANS, "With the free plan you get 3 projects and 1000 requests per day"),
    (PLANS, "The team plan is 12 dollars per person and month"),
    (PLANS, "For $12 per user each month, the team plan raises this to 25 projects and 50 000 requests a day"),
    (PLANS, "Uploads are limited to 512 MB, or 20 MB if you are on the free plan"),
    (PLANS, "An unused account is removed after 18 months, with a warning 30 days ahead"),
    (PLANS, "The limit on the free plan is 1,000 requests a day"),
    (PLANS, "Teams can have up to 25 projects"),
    (PLANS, "There are 3 plans: free, team and enterprise"),
    (SETUP, "Make sure that you have Python 3.10+ and at least 4GB of memory"),
    (SETUP, "The installation has 3 steps: clone the repository, install the dependencies and start the server"),
    (SETUP, "Step 2 installs the dependencies with `pip install -r requirements.txt`"),
    (SETUP, "In step 3 you start the server on port 8080"),
    (SETUP, "The first start takes 2–3 minutes because a 1.3 GB model is downloaded"),
    (SETUP, "The first time, give it between 2 and 3 minutes; afterwards it starts in 10 s"),
    (SETUP, "After the first start, it only takes about 10 seconds"),
    (SETUP, "The server listens on port 8080 when you start it with `python serve.py --port 8080`"),
    (RELEASES, "Since version 2.4.1, `max_connections` is 250 by default"),
    (RELEASES, "In 2.4.1 the default of `max_connections` went up from 100 to 250"),
    (RELEASES, "Timeouts were raised to 30 seconds; before, they were 10 seconds"),
    (RELEASES, "Python 3.8 is no longer supported, so you need at least 3.9"),
    (RELEASES, "Release 2.4.1 came out on 5 October 2023"),
    (RELEASES, "Version 2.4.0 made searches 40 percent faster and fixed 17 bugs"),
    (RELEASES, "The 2.4 releases dropped support for Python 3.8"),
    (COURSE, "There are 2 lectures a week over the 13 weeks of the course"),
    (COURSE, "Each lecture is 90 minutes long"),
    (COURSE, "The final project makes up 40 percent of your grade and the midterm 25 percent"),
    (COURSE, "The 5 assignments are worth 5% each"),
    (COURSE, "You pass with 50 % overall"),
    (COURSE, "For each day that an assignment is late, you lose 10 points, up to 3 days"),
    (COURSE, "The midterm takes place in week 7"),
    (COURSE, "Participation accounts for the other 10 % of the grade"),
    (LIDAR, "The Lidar X4 has a range of 10 m and a rate of 12 Hz"),
    (LIDAR, "The camera D435 reaches only 3 m, but runs at 30 Hz"),
    (LIDAR, "Lidar X2 draws 1.5 W, and X4 draws 1.9 W"),
    (LIDAR, "Both lidars cover the full 360°"),
    (LIDAR, "Below 2 meters the accuracy is about 2 cm"),
    (LIDAR, "At 1280×720 pixels, the camera has the highest power draw, 3.5 W"),
    (LIDAR, "The table compares 3 sensors by range, rate and power"),
    (COSTS, "The workstations are the biggest item, at $60,000 for 20 machines"),
    (COSTS, "A student who has no laptop can borrow one for 90 euros"),
    (COSTS, "The sample lab configuration costs $89,000"),
    (TEAM, "Three students founded the company in 1998"),
    (TEAM, "At the end of 2022 about 1,250 people were employed by the company"),
    (TEAM, "Revenue rose from 171.2 million euros to 198.6 million euros in 2022"),
    (TEAM, "In 2022 the revenue was almost 200 million euros"),
    (TEAM, "More than 1,200 employees worked there in 2022"),
    (TEAM, "Some 38% of the employees work on software"),
    (TEAM, "It has 4 offices: Leeds, Porto, Toronto and Osaka"),
    (TEAM, "The company has been in its larger office since 2010"),
    (KERNEL, "The default of 212,992 bytes isn't enough for images"),
    (KERNEL, "For large messages, raise `net.core.rmem_max` to 2147483647"),
    (KERNEL, "On a lossy network you can lower `ipfrag_time` from 30 s to 3 s"),
    (KERNEL, "Discovery uses port 7400, while data starts at port 7410"),
    (KERNEL, "Choose a domain ID from 0 to 101"),
    (KERNEL, "ROS 2 Humble requires Ubuntu 22.04, whereas Foxy requires 20.04"),
    (LIBRARY, "An adult can take out 12 books at a time and keep them for 4 weeks"),
    (LIBRARY, "Children are allowed 20 books, which they can keep for 6 weeks"),
    (LIBRARY, "Films have to be back after 7 days"),
    (LIBRARY, "A late return costs adults 30 cents a day, while children pay 10 cents"),
    (LIBRARY, "The fee for being late is capped at 15 euros"),
    (LIBRARY, "Loans can be extended 2 times if nobody else has reserved the book"),
    (LIBRARY, "On Saturdays the library closes at 14:00"),
    (LIBRARY, "From Tuesday to Friday it is open between 10:00 and 19:00"),
    (LIBRARY, "If you are late with a book, you pay 30 cents per day up to a maximum of €15"),
    (RATES, "A key is limited to 600 requests a minute"),
    (RATES, "Short bursts of 50 requests per second are fine"),
    (RATES, "If you exceed the limit, you get a 429 response"),
    (RATES, "Wait for the time given in `Retry-After`, which is typically between 5 and 30 seconds"),
    (RATES, "A single file must not be larger than 100MB, and you can upload 2GB a day in total"),
    (RATES, "By default, a page has 50 items, and you can ask for up to 200"),
    (RATES, "The Pro tier costs $29 a month and allows 600 requests per minute"),
    (RATES, "With the free tier, you are limited to 60 requests a minute"),
    (RATES, "Business customers get 6000 requests per minute for $249"),
    (BIKE, "The M3 has a 522 Wh battery that is full after 4.5 hours with the 4 A charger"),
    (BIKE, "Charging the M2 takes 5 hours, as it comes with a 2 A charger"),
    (BIKE, "Above 25 km/h the motor no longer helps"),
    (BIKE, "You can ride between 60 and 110 km on one charge"),
    (BIKE, "Inflate the front tyre to 3.5 bar and the rear one to 4 bar"),
    (BIKE, "With its battery, the bike has a weight of 18.9 kg plus 2.6 kg"),
    (BIKE, "The frame has a warranty of 5 years, everything else of 2 years"),
    (BIKE, "It can carry 130 kg at most"),
    (BIKE, "Without the battery it weighs about 19 kg"),
    (BRIDGE, "It is 412 m long and has 5 arches"),
    (BRIDGE, "Its largest arch has a width of 96 m"),
    (BRIDGE, "2 of the arches were destroyed in 1944 and rebuilt by 1951"),
    (BRIDGE, "In 2019, some 23,400 vehicles used the bridge daily, up from 18,900 ten years earlier"),
    (BRIDGE, "Construction took 3 years"),
    (BRIDGE, "The renovation took 26 months and cost almost 8 million euros"),
    (BRIDGE, "It opened to traffic on June 14, 1907"),
    (BRIDGE, "More than 23,000 vehicles crossed it every day in 2019"),
    (REPLICAS, "You begin with 2 replicas, and up to 10 are started under load"),
    (REPLICAS, "New replicas are added once the CPU has been above 70 % for 5 min"),
    (REPLICAS, "It removes replicas if the use stays under 30 percent for 15 minutes"),
    (REPLICAS, "A pod may use at most 1 CPU and 1 Gi of memory"),
    (REPLICAS, "Kubernetes checks `/healthz` on port 8080 every 10 s and gives up after 3 failures"),
    (REPLICAS, "You need Kubernetes 1.27 or newer"),
    (REPLICAS, "It has been tested with versions up to 1.30"),
    (REPLICAS, "Each pod requests 512Mi of memory and may use up to 1Gi"),
    (DOSAGE, "Adults should take one tablet of 400 mg every 6 to 8 hours"),
    (DOSAGE, "Don't take more than 1200 mg per day"),
    (DOSAGE, "For children between 6 and 9, the dose is 200 mg up to 3 times daily"),
    (DOSAGE, "See a doctor if you need it for longer than 3 days"),
    (DOSAGE, "Keep it at temperatures under 25°C"),
    (DOSAGE, "Each tablet has 400mg of active substance and 35mg of lactose"),
    (DOSAGE, "Nausea was seen in 1 out of 10 people"),
    (DOSAGE, "A rash occurs in less than 1 in 1000 people"),
    (DOSAGE, "The maximum for adults is 1,200 mg a day, i.e. 3 tablets"),
]  # fmt: skip


@pytest.mark.parametrize(("passage", "said"), RIGHT, ids=[said for _, said in RIGHT])
def test_a_right_number_gets_no_warning(passage: str, said: str) -> None:
    """However it is written: rounded, in words, with another unit's name, counted from a list, or in a range."""
    evidence = Evidence(said="How is that?")
    evidence.add(1, passage)

    assert evidence.place(said, 1, (1,)) == 1
    assert all(each.support >= SAID for each in weighed(read(f"{said}.", Sources()), evidence))


WRONG = [
    (BACKUPS, "A backup of the example database of 240 MB takes about 6 minutes"),
    (PLANS, "The free plan allows 25 projects"),
    (KERNEL, "The nodes need ROS 3 Humble on Ubuntu 22.04"),
    (KERNEL, "Port 7410 is used for discovery"),
    (BRIDGE, "In 1951 two arches were destroyed"),
    (PLANS, "The team plan allows 5k requests a day"),
    (COURSE, "The midterm exam counts for 1/8 of the grade"),
    (LIDAR, "The Lidar X2 has a rate of 12 Hz"),
    (LIDAR, "The Lidar X4 has a range of 8 m and a rate of 12 Hz"),
    ("The genes MCP-1 and VCAM-1 rise, and ICAM-1 falls in 3 people.", "The genes MCP-3 and VCAM-1 rise"),
]  # fmt: skip


@pytest.mark.parametrize(("passage", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_number_from_elsewhere_in_the_passage_costs_the_footnote(passage: str, said: str) -> None:
    """Another one stands in its place there: with more of the sentence, and of what is around it, around that one."""
    evidence = Evidence(said="How is that?")
    evidence.add(1, passage)

    assert evidence.place(said, 1, (1,)) is None


TIMES = "The battery lasts about eight hours in normal use and charges in 90 minutes. It is cleaned twice a week."
ACCU = (
    "Die Batterie hält bei normaler Nutzung etwa acht Stunden und lädt in 90 Minuten. Der Akku wiegt zwölf Kilogramm."
)
DOORS = "The workshop of Ada Lovelace is held from 14:00 to 16:00 in a hall of 0.55 km. Entry is from 9 to 11 am."
MISTAKES = """## Common mistakes

- **Wrong frame.** The axis is in another one.
- **Wrong point.** These are two of them:
  - the base
  - the tool
- **Wrong sign.** It is off by one."""


@pytest.mark.parametrize(
    ("passage", "said"),
    [
        (TIMES, "Charging the battery takes 1.5 hours"),
        (TIMES, "It charges the battery in an hour and a half"),
        (TIMES, "In normal use, the battery lasts about 480 minutes"),
        (TIMES, "The battery lasts about 8 hours in normal use"),
        (TIMES, "Die Batterie hält acht Stunden und lädt in 1,5 Stunden"),
        (TIMES, "La batterie dure huit heures et se charge en 90 minutes"),
        (DOORS, "The workshop is held from 2 pm to 4 p.m. in the hall"),
        (DOORS, "The workshop is held from 2 to 4 pm in a hall of 550 m"),
        (DOORS, "Entry is from 9:00 to 11:00"),
        ("It is open on Tuesday from 14:00.", "On Tuesdays it is open from 2 pm"),
        (ACCU, "Die Batterie hält 8 Stunden"),
        (ACCU, "The battery lasts about 8 hours, and charges in 90 minutes"),
        (ACCU, "Der Akku wiegt 12 kg und ist nach 1,5 Stunden voll"),
        ("It starts half an hour after noon.", "It starts 30 minutes after noon"),
        ("The walk takes an hour in the rain.", "In the rain, the walk takes 60 minutes"),
        ("The walk takes a week in the rain.", "In the rain, the walk takes 7 days"),
        (PLANS, "The free plan allows 1k requests a day, and the team plan 50k"),
        ("Up to 1.5k people may visit it.", "It may be visited by 1,500 people"),
        ("Up to two and a half thousand people may visit it.", "It may be visited by 2,500 people"),
        ("Up to one hundred and fifty-one people may visit it.", "It may be visited by 151 people"),
        ("Two dozen people may visit it.", "It may be visited by 24 people"),
        (TEAM, "In 2022, revenue was 198,600,000 euros"),
        (COURSE, "The midterm exam counts for 1/4 of the grade, and the final project for 0.4"),
        ("Three quarters of the people liked it.", "It was liked by 75 % of the people"),
        ("The new arm has 50 % of the motors.", "The new arm has half as many motors as the old one"),
        ("A tenth of the people liked it.", "It was liked by 1 out of 10 people"),
        ("The offset of the arm is ½ m.", "The arm has an offset of 0.5 m"),
        ("The tolerance of the solver is 1e-4.", "The solver has a tolerance of 0.0001"),
        ("The tolerance of the solver is 0.0001.", "The solver has a tolerance of $10^{-4}$"),
        ("The tolerance of the solver is 0.0001.", "The solver has a tolerance of 1 × 10⁻⁴"),
        (DOSAGE, "One tablet has 0.4 g of the substance, and is stored below 25 degrees Celsius"),
        (LIBRARY, "On Saturday it opens at 10 o'clock"),
        ("Es öffnet am Dienstag um 14 Uhr.", "Il ouvre le mardi à 14h00"),
        ("It starts on December 31, 2003.", "It will start on Dec 31st, 2003"),
        ("The second module is about sensors, and module 3 is about motors.", "Module 2 is about sensors"),
        (MISTAKES, "It lists 3 common mistakes"),
    ],
)
def test_a_number_may_have_another_form(passage: str, said: str) -> None:
    """It is the same in another unit, on another clock, and as a word of another language."""
    test_a_right_number_gets_no_warning(passage, said)


@pytest.mark.parametrize(
    "said",
    [
        "The battery lasts about five hours in normal use",
        "The battery lasts about half an hour in normal use",
        "The battery charges in thirty minutes",
        "The battery charges in 2.5 hours",
        "The battery lasts ninety hours in normal use",
    ],
)
def test_a_number_in_words_is_looked_for_where_it_has_a_unit(said: str) -> None:
    """As if it were written in digits."""
    evidence = Evidence(said="How is that?")
    evidence.add(1, TIMES)

    assert evidence.place(said, 1, (1,)) is None


def test_a_time_of_day_is_another_in_the_morning() -> None:
    """The same number is not the same time."""
    evidence = Evidence()
    evidence.add(1, DOORS)

    assert evidence.place("The workshop is held from 2 am to 4 am in the hall", 1, (1,)) is None
