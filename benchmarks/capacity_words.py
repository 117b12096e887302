"""The words between the tables of the page on capacity."""

HEAD = """
# Past one machine

Written by `make capacity`. Every stage of a collection was run at several sizes on one machine, a straight line was
drawn through what it cost, and everything else here follows from those lines: it is arithmetic, not a test at that
size. A cost is in seconds of a core, whichever process used it, the database's own included; ± is twice the standard
error of the slope. Where people a day are told, a core is kept busy {busy} of the time, so that a busy hour finds
room.{hurried}

{machine}
* Other processes kept {others:.1f} cores busy meanwhile.
"""
HURRIED = " **A quick run: fewer and smaller sizes.**"

FIGURE = (
    "![How many cores it takes for so many people a day, by stage; and how the error grows with the number of shards "
    "that are mixed apart.](capacity.svg)"
)

MEASURED = """
## What was measured

One message from everybody; uploads come over HTTP, are opened and kept on the disk, and only then acknowledged.
*Handing on* is HTTP too, both sides counted. The same runs check that the answer is right and that nothing
acknowledged is lost.
"""

SENT = """
## What a person sends

Exact, from the plans at epsilon 1 and delta 1e-6. Everybody sends as many messages as everybody else, dummies
included, so that their number tells nothing: the fewer people share the noise, the more of it each may have to bring.
The error is the root mean square, in people. A histogram has 100 categories, and a sum is of numbers from 0 to 1.
"""

PEOPLE = """
## People a day, by cores

Plans for a million people, over SQLite. An upload is opened once, however many messages are in it: what more bytes
cost there was not measured apart, and is small beside the key exchange. All else goes by messages. The stage that is
full first is in bold.
"""

NEEDED = """
How many cores that comes to, for a million and for a thousand million people a day, by the plan for that many. More
than one core for a stage is more than one process. Several processes of one shuffler take uploads over one PostgreSQL
database; each batch is mixed, handed on and opened by one: see [the end](#what-there-is-and-what-is-missing).
"""

DISK = """
## On the disk

Reports of one message. A batch is on the shuffler's disk until it is mixed, and its messages until the analyser has
them; so it is the crowd of one window that must fit, not that of a day. Every further message of a person adds its
own bytes.
"""

SPLIT = """
## When one shuffler is not enough

With *n* people in a window of *W* seconds, *m* messages each, and the slopes above, one process of a shuffler does
until one of these fails:

* **It cannot take the uploads.** It takes, mixes and hands on: *n / W* must be below {busy} / (upload + *m* · (mixing +
  handing on)). More processes over one PostgreSQL database take more.
* **A batch is not through before the next one closes.** Fixed costs + *n* · *m* · (mixing + handing on + opening)
  must be below *W*.

Memory ends no batch: beyond 32 MB it is mixed, and beyond a million messages counted, in encrypted piles on the disk
(10^7 reports in less than 200 MB, [measured](benchmarks.md)), which must hold it. With SQLite, mixing keeps the
database to itself, and uploads wait or are sent away meanwhile; PostgreSQL locks one batch only. The table has the most
people by either limit, and the number of shufflers that the crowd of one window takes. A shorter window is a split as
well: every batch is released by itself, and the next section holds for it.
"""

APART = """
## What a second shuffler changes

### (a) Shards that are mixed apart

The crowd is split by something that has nothing to do with the answers, each shard has a shuffler, and the analyser
adds up *k* answers. Everybody is in one shard, so nothing is paid twice, but **each shard's promise holds for its own
crowd only**: the *n/k* people in it must bring all the noise themselves, and the sum has the noise of *k* answers.
Each shard was calibrated for its own crowd, exactly; this is the error of the sum, in people:
"""

TOGETHER = """
That is the square root of *k* for plans whose noise does not grow with the crowd: 16 shards are four times as wrong.
Among millions that is often still nothing, and it is what can be done today, with *k* collections and *k* parties. A
plan in which the noise grows with the crowd (one that trusts nobody) loses nothing at all.

### (b) Shards that are mixed together before the analyser

Many shufflers take reports, and one more mixes all of their batches into one. Then the noise is planned for the whole
crowd, and the error is that of *k* = 1. Who must be trusted: the mixer keeps the promise if it does not share what it
saw with the analyser. If it does, only the shards' own mixing is left, with a *k*-th of the noise that the plan
counted on. The delta that a person is then left with at the same epsilon of 1, exactly, by plans for a million people
and delta 1e-6:
"""

CASCADE = """
So the second stage is not spare: it is trusted as the single shuffler is today, and it handles everybody's messages
(not the uploads, whose opening is what was spread out). A shard that works together with the mixer and the analyser
gives away its own people, and nobody else's.

### (c) Two shufflers in a row

Every message is sealed once more, to a second shuffler, which opens that layer, mixes again and hands on. It is
enough that **either one is honest**: if it is the second, the first does not learn which of the mixed messages are
whose; if it is the first, the second never saw who sent what. There is one thing more that a dishonest first one can
do: put reports of its own in place of other people's, so that somebody is alone among them. No second shuffler mends
that; invitations would that somebody else issues, and that the second one checks. And the second must refuse messages
that come twice, as the analyser does today. It costs a seal for each message, one more opening, one more mixing and
handing on; computed from the lines above, for a million people:
"""

LEDGER = """
## The ledger

A release is charged to its population's ledger, where its price is added to those of the earlier ones; here two
questions in turn, epsilon 0.1 and delta 1e-9 each, in a file. The cost goes by releases, never by people. (A question
of another kind than those before costs more once: its price is computed then.)
"""

FILES = """
## Data that lie in files

Nobody uploads anything here: `hc.run` over one column of a Parquet file, by DuckDB. A trusted analyser's count is
added up by the database; in the shuffle model every row goes through its own randomiser.
"""

BILLION = """
## Does the arithmetic of errors hold at that size?

Costs are extrapolated, errors need not be: the laws of most tallies are known, and so a thousand million people can
be simulated without touching each of them. [The study](studies/a-billion.md) (`headcount study run a-billion`)
compares predicted and simulated errors and the coverage of the intervals for plans of all three models, at n =
1,000,000,000.
"""

TODAY = """
## What there is, and what is missing

What there is: one shuffler and one analyser for a collection, over SQLite or PostgreSQL, where several processes of the
shuffler take uploads ([how](operator.md)); a batch for each window; shards as in (a), by hand, as *k* collections whose
answers one adds up. Data that lie in files are counted on one machine by DuckDB, and frames of Spark stay on Spark,
whose parts are tallied where they lie and added up: none of the limits above is theirs. Sealed reports that lie in a
data lake are opened, mixed and counted by as many cores as a Spark cluster has: `headcount batch shuffle | analyse`,
[how](operator.md). That is the way past the limits above; who must be trusted is the same.

What would have to be built, in the order in which it would help:

1. *Uploads into a lake*: the shuffler puts them into files, which the commands above read. No change in trust.
2. *Adding up shards*: a release over several collections whose estimates and intervals are combined and charged once.
3. *A mixing stage*, (b), or *a second shuffler*, (c): new signed manifests from shuffler to shuffler, one more layer
   in the wire format and in every client, and words in the threat model for who may collude with whom. Only this one
   makes more people trustworthy rather than more people countable.
"""
