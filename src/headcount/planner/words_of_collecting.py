"""The words of collections: devices, a shuffler and an analyser that speak over a network."""

from __future__ import annotations

COLLECTING = {
    "collection": "A plan that is carried out over a network: who is asked what, by which shuffler and analyser, and "
    "when. Its name is the beginning of its hash, which is bound into everything that devices send.",
    "create": "To agree on a collection with both parties, to make a party, or to begin a ledger.",
    "show": "To look, without changing anything.",
    "data": "The folder in which a trial, or a desk, keeps where both parties are and what to show them.",
    "desk": "Whoever runs a collection: the addresses of both parties, and a token of each.",
    "folder": "Where something is kept.",
    "batch": "The reports that are mixed with each other. A collection has one, or several, one after the other.",
    "batches": "How many batches a collection has. Each is paid for when it is released.",
    "window": "How long a batch is open. It is sealed at the end of a window, or held for another one.",
    "close": "To seal the open batch of a collection now, and to open no other.",
    "closes": "When the open batch may end, in seconds since 1970.",
    "fixed": "That batches end with their windows only. Otherwise their operator may close them at any moment.",
    "state": "How far something has come. A batch is open, sealed, shuffled, delivered and purged at the shuffler, "
    "awaited, received, claimed and released at the analyser; a report is made, taken or refused because the batch is "
    "closed.",
    "taken": "That a report is on the shuffler's disk.",
    "reports": "How many people have reported. That is public.",
    "shortfall": "What becomes of a batch with too few reports: it is held open (hold), filled up with reports of "
    "nobody (top-up), or destroyed unread (purge).",
    "holds": "For how many windows more a batch with too few reports is held open.",
    "most": "How many reports a batch takes at most; whoever comes later is told that it is full.",
    "top_up": "Whether the shuffler may add reports of nobody, which hold nothing and bring noise, where people are "
    "missing.",
    "added": "How many reports of nobody the shuffler added.",
    "device": "What a person reports with; on the command line, the folder in which it keeps what it sent. In a plan: "
    "what a device is told beside the programme.",
    "record": "One message as bytes: its fields, and how many bytes each of them has.",
    "devices": "To try a collection out: as many devices as this, thrown away afterwards.",
    "uploads": "Files of sealed reports as devices sent them, in a data lake.",
    "mixed": "The folder of sealed messages in no order, which the shuffler writes and the analyser opens.",
    "spark": "The address of the Spark cluster that does the work.",
    "receipt": "What a device tells its owner: what left it, what that gives away, and what all its reports add up to.",
    "again": "Whether a report had been made before. It is sent again as it is: a new answer changes nothing.",
    "colluding": "The epsilon that is left to a person if shuffler and analyser work together; none if nothing is.",
    "lifetime_epsilon": "The epsilons of all reports that a device ever made, added up.",
    "lifetime_delta": "The deltas of all reports that a device ever made, added up.",
    "invited": "That only those may report who were sent an invitation: one report each.",
    "invite": "To make invitations.",
    "invitation": "Sixty-four digits that allow one report to each batch.",
    "issuer": "The party that invites people: it lets each report once to each batch, and cannot tell whose report is "
    "whose.",
    "relay": "Somebody who forwards reports to the shuffler, so that it does not learn whose address they come from.",
    "population": "The people whose budget pays for a collection, by a name.",
    "estimate": "The answer with its interval and guarantee.",
    "signature": "What only the holder of a private key can make, and anybody can check.",
    "signed-by": "The public key that has signed a release, or must have.",
    "party": "A shuffler, an analyser or an issuer, with a folder, a database and keys of its own.",
    "role": "Which party it is; of a token, what it allows: operator, analyst, shuffler or monitor.",
    "config": "The settings of a party: party.toml in its folder.",
    "database": "Where a party keeps things: SQLite in its folder, or PostgreSQL.",
    "listen": "The address and port at which a party can be reached.",
    "ports": "Where shuffler and analyser listen in a trial.",
    "port": "Where the page of `headcount web` is, on this machine; with 0, wherever there is room.",
    "web": "The page for browsers: the advisor, a question to answer yourself and, at a party's address, its "
    "collections.",
    "suite": "How messages are sealed: the kinds of key and cipher. A plan names one.",
    "expires": "When a key ends, in seconds since 1970. One that was replaced opens what is under way until then.",
    "replaced": "That another key is announced, and that this one still opens what is under way.",
    "deleted": "That a key is gone: what was sealed to it can be opened by nobody.",
    "revoked": "That a token stands for nothing any more.",
    "token": "What allows its holder to ask a party for something. Only its hash is kept.",
    "shuffler-token": "The file of the shuffler's token.",
    "analyser-token": "The file of the analyser's token.",
    "issuer-token": "The file of the issuer's token.",
    "yes": "Do it without asking again.",
}
