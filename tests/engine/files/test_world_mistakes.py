"""Mistakes in what `world.yaml`, places and lore say.

Each is the only problem found, and stands where `⇒` is.
"""

from collections.abc import Callable

import pytest

from tests.engine.files.mistakes import Mistake

HEAD = "name: Test\nclock: {start: 1247-03-01T17:40}\n"
W, P, L = "world.yaml", "places/house.yaml", "lore/l.yaml"
CELLAR = "- {id: cellar, name: c}\n"


MISTAKES = [
    Mistake("span of lore", L, "- {id: l, text: T., stays: ⇒soon}\n", "lore.l.stays", "`soon`: not how long something lasts", "2h30m"),
    Mistake("no span at all", L, "- {id: l, text: T., rests: ⇒0m}\n", "lore.l.rests", "not how long something lasts", "30m"),
    Mistake("time of lore", L, "- {id: l, text: T., from: ⇒tomorrow}\n", "lore.l.from", "not a date with a time of day", "+2d12h"),
    Mistake(
        "lore that ends first", L, "- {id: l, text: T., from: +2d, until: ⇒+1d}\n",
        "lore.l.until", "it ends before it begins", "later than",
    ),
    Mistake("no clock", W, "⇒name: Test\n", "clock", "`clock` is missing", "1247-03-01T17:40"),
    Mistake("no world name", W, "⇒clock: 1247-03-01T17:40\n", "name", "`name` is missing", ""),
    Mistake("bad clock", W, "name: Test\nclock: {start: ⇒1247-13-01T17:40}\n", "clock.start", "is no such moment", "1247-03-01T17:40"),
    Mistake("date only", W, "name: Test\nclock: ⇒1247-03-01\n", "clock", "not a date with a time of day", "1247-03-01T17:40"),
    Mistake("zone", W, "name: Test\nclock: {start: ⇒1247-03-01T17:40:00Z}\n", "clock.start", "no time zone", "leave out"),
    Mistake("offset", W, "name: Test\nclock: {start: ⇒'1247-03-01T17:40+01:00'}\n", "clock.start", "no time zone", "leave out"),
    Mistake(
        "clock key", W, "name: Test\nclock: {⇒strat: 1247-03-01T17:40}\n",
        "clock.strat", "no key `strat`", "did you mean `start`?",
    ),
    Mistake("seed", W, HEAD + "seed: ⇒lucky\n", "seed", "`lucky` is not a whole number from 0", ""),
    Mistake(
        "policy name", W, HEAD + "policies: {⇒handof: {floor: 4}}\n",
        "policies.handof", "no key `handof`", "did you mean `handoff`?",
    ),
    Mistake(
        "policy key", W, HEAD + "policies: {handoff: {⇒flor: 4}}\n",
        "policies.handoff.flor", "no key `flor`", "did you mean `floor`?",
    ),
    Mistake("policy value", W, HEAD + "policies: {handoff: {floor: ⇒0}}\n", "policies.handoff.floor", "`0` should be greater than", ""),
    Mistake(
        "policy text", W, HEAD + "policies: {handoff: {floor: ⇒few}}\n",
        "policies.handoff.floor", "`few` should be a whole number", "",
    ),
    Mistake("policy nan", W, HEAD + "policies: {recall: {alpha: ⇒nan}}\n", "policies.recall.alpha", "`nan` is not a number", ""),
    Mistake(
        "pairs", W, HEAD + "policies: {sessions: {pairs: ⇒al}}\n", "policies.sessions.pairs", "`al` is no pairs", "did you mean `all`?",
    ),
    Mistake(
        "collapse key", W, HEAD + "policies: {sessions: {collapse: {⇒max_turn: 4}}}\n",
        "policies.sessions.collapse.max_turn", "no key `max_turn`", "`max_turns`",
    ),
    Mistake(
        "collapse value", W, HEAD + "policies: {sessions: {collapse: {recurrence_threshold: ⇒1.5}}}\n",
        "policies.sessions.collapse.recurrence_threshold", "`1.5` should be less than", "",
    ),
    Mistake(
        "collapse mode", W, HEAD + "policies: {sessions: {agents: {bob: {mode: ⇒often}}}}\n",
        "policies.sessions.agents.bob.mode", "`often` should be 'auto', 'explicit' or 'hybrid'", "",
    ),
    Mistake(
        "agent with a policy", W, HEAD + "policies: {sessions: {agents: {⇒bobb: {max_turns: 4}}}}\n",
        "policies.sessions.agents.bobb", "no entity `bobb`", "did you mean `bob`?",
    ),
    Mistake(
        "sensitive words", W, HEAD + "policies: {promotion: {sensitive: ⇒{a: b}}}\n",
        "policies.promotion.sensitive", "`sensitive` should be a list", "",
    ),
    Mistake(
        "exit to nowhere", P, "- {id: bar, name: b, exits: [{to: ⇒cellr, name: d}]}\n" + CELLAR,
        "places.bar.exits[1].to", "no place `cellr`", "did you mean `cellar`?",
    ),
    Mistake(
        "exit to itself", P, "- {id: bar, name: b, exits: [{to: ⇒bar, name: d}]}\n" + CELLAR,
        "places.bar.exits[1].to", "from `bar` to itself", "other side",
    ),
    Mistake(
        "exit to an entity", P, "- {id: bar, name: b, exits: [{to: ⇒bob, name: d}]}\n" + CELLAR,
        "places.bar.exits[1].to", "no place `bob`", "the id of an entity",
    ),
    Mistake(
        "exit without name", P, "- {id: bar, name: b, exits: [⇒{to: cellar}]}\n" + CELLAR,
        "places.bar.exits[1].name", "`name` is missing", "",
    ),
    Mistake(
        "state", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, state: ⇒clsoed}]}\n" + CELLAR,
        "places.bar.exits[1].state", "`clsoed` is no state", "did you mean `closed`",
    ),
    Mistake(
        "sound", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, sound: ⇒11}]}\n" + CELLAR,
        "places.bar.exits[1].sound", "`11` is not a whole number from 0 to 10", "",
    ),
    Mistake(
        "vision", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, vision: ⇒3.5}]}\n" + CELLAR,
        "places.bar.exits[1].vision", "`3.5` is not a whole number", "",
    ),
    Mistake(
        "one way", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, one_way: ⇒maybe}]}\n" + CELLAR,
        "places.bar.exits[1].one_way", "`maybe` is neither true nor false", "",
    ),
    Mistake(
        "key of a way", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, key: ⇒bib}]}\n" + CELLAR,
        "places.bar.exits[1].key", "no entity `bib`", "did you mean `bob`?",
    ),
    Mistake(
        "same way twice", P, "- {id: bar, name: b, exits: [{to: cellar, name: d}, ⇒{to: cellar, name: d}]}\n" + CELLAR,
        "places.bar.exits[2]", "the way `the d` stands twice", "line 1, column 30",
    ),
    Mistake(
        "sides differ", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, sound: 4}]}\n"
        "- {id: cellar, name: c, exits: [{to: bar, name: d, sound: ⇒5}]}\n",
        "places.cellar.exits[1].sound", "`sound` of the way `the d` is `5` here and `4` at its other end", "line 1, column 59",
    ),
    Mistake(
        "one-way from one side", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, one_way: true}]}\n"
        "- {id: cellar, name: c, exits: [⇒{to: bar, name: d}]}\n",
        "places.cellar.exits[1]", "one-way from one side only", "line 1, column 30",
    ),
    Mistake(
        "stated twice", P, "- {id: bar, name: b, exits: [{to: cellar, name: d, sound: ⇒4, when_open: {sound: 5}}]}\n" + CELLAR,
        "places.bar.exits[1].sound", "`sound` is 4 here and 5 in `when_open`", "leave out one",
    ),
    Mistake("position", P, "- {id: bar, name: b, position: ⇒[1]}\n" + CELLAR, "places.bar.position", "not a position", "[2, 0]"),
    Mistake(
        "light", P, "- {id: bar, name: b, light: ⇒drak}\n" + CELLAR,
        "places.bar.light", "`drak` is no light", "did you mean `dark`?",
    ),
    Mistake("lore without text", L, "- ⇒{id: a}\n", "lore.a.text", "`text` is missing", ""),
    Mistake("scope", L, "- {id: a, text: x, scope: ⇒faktion}\n", "lore.a.scope", "`faktion` is no scope", "did you mean `faction`?"),
    Mistake(
        "faction", L, "- {id: a, text: x, scope: faction, holders: [⇒harbor]}\n",
        "lore.a.holders[1]", "no faction `harbor`", "`harbour`",
    ),
    Mistake(
        "holder of lore", L, "- {id: a, text: x, scope: entity, holders: [⇒bil]}\n",
        "lore.a.holders[1]", "no entity `bil`", "`bill`",
    ),
    Mistake("no holders", L, "- ⇒{id: a, text: x, scope: entity}\n", "lore.a.holders", "`holders` is missing", "who knows it"),
    Mistake("world with holders", L, "- {id: a, text: x, holders: ⇒[bob]}\n", "lore.a.holders", "everybody holds", "scope"),
    Mistake("lore in a file of its own", L, "id: a\ntext: see ⇒@bil\n", "lore.a.text", "no entity `@bil`", "`bill`"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_reported_once_and_where_it_stands(mistake: Mistake, only_problem: Callable[[str, str], tuple[str, str, str]]) -> None:
    mistake.check(only_problem)
