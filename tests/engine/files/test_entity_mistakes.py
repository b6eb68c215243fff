"""Mistakes in entities and in what they remember.

Each is the only problem found, and stands where `⇒` is.
"""

from collections.abc import Callable

import pytest

from tests.engine.files.mistakes import Mistake

B = "entities/bob.yaml"
BOB = "id: bob\nat: bar\nagent: true\n"


MISTAKES = [
    Mistake("at", B, "id: bob\nat: ⇒celler\nagent: true\n", "entities.bob.at", "no place `celler`", "did you mean `cellar`?"),
    Mistake("nowhere", B, "⇒id: bob\nagent: true\n", "entities.bob.at", "`at` is missing", "holder"),
    Mistake("at misspelt", B, "id: bob\n⇒att: bar\nagent: true\n", "entities.bob.att", "no key `att`", "did you mean `at`?"),
    Mistake("holder", B, "id: bob\nholder: ⇒bil\n", "entities.bob.holder", "no entity `bil`", "did you mean `bill`"),
    Mistake("carried agent", B, "id: bob\nholder: ⇒bill\nagent: true\n", "entities.bob.holder", "an agent cannot be carried", "at"),
    Mistake("holds itself", B, "id: bob\nholder: ⇒bob\n", "entities.bob.holder", "holds itself", ""),
    Mistake(
        "circle", B, "- {id: bob, holder: box}\n- {id: box, holder: bag}\n- {id: bag, holder: ⇒bob}\n",
        "entities.bag.holder", "a circle of holders: `bob`, `box`, `bag`", "",
    ),
    Mistake(
        "elsewhere", B, "id: bob\nholder: bill\nat: ⇒bar\n",
        "entities.bob.at", "`bob` cannot be at `bar`", "its holder is at `cellar`",
    ),
    Mistake("agent", B, "id: bob\nat: bar\nagent: ⇒perhaps\n", "entities.bob.agent", "neither true nor false", ""),
    Mistake(
        "visible", B, BOB + "attributes: {a: {value: x, visible: [bob, ⇒bil]}}\n",
        "entities.bob.attributes.a.visible[2]", "no entity `bil`", "`bill`",
    ),
    Mistake(
        "visible word", B, BOB + "attributes: {a: {value: x, visible: ⇒pubic}}\n",
        "entities.bob.attributes.a.visible", "neither `public` nor an entity", "did you mean `public`?",
    ),
    Mistake(
        "visible empty", B, BOB + "attributes: {a: {value: x, visible: ⇒}}\n",
        "entities.bob.attributes.a.visible", "`visible` is empty", "[] for nobody",
    ),
    Mistake("no value", B, BOB + "attributes: {a: ⇒{visible: public}}\n", "entities.bob.attributes.a.value", "`value` is missing", ""),
    Mistake("empty attribute", B, BOB + "attributes:\n  a:⇒\n", "entities.bob.attributes.a", "an attribute is empty", ""),
    Mistake(
        "status", B, BOB + "attributes: {status: ⇒aslep}\n",
        "entities.bob.attributes.status", "`aslep` is no status", "did you mean `asleep`?",
    ),
    Mistake("alias of nobody", B, BOB + "aliases: {⇒bil: him}\n", "entities.bob.aliases.bil", "no entity `bil`", "did you mean `bill`"),
    Mistake("alias of itself", B, BOB + "aliases: {⇒bob: me}\n", "entities.bob.aliases.bob", "an alias for itself", ""),
    Mistake("empty alias", B, BOB + "aliases: {bill: ⇒}\n", "entities.bob.aliases.bill", "an alias is empty", ""),
    Mistake(
        "reference", B, BOB + "goals:\n  - find @bill and\n  - |\n    ask @bill or ⇒@bil.\n",
        "entities.bob.goals[2]", "no entity `@bil`", "did you mean `bill`",
    ),
    Mistake(
        "reference to a place", B, BOB + "goals: [go to ⇒@cellar]\n",
        "entities.bob.goals[1]", "no entity `@cellar`", "plain words",
    ),
    Mistake(
        "reference in a name", B, BOB + "attributes: {label: 'friend of ⇒@bill'}\n",
        "entities.bob.attributes.label", "no references can stand here", "",
    ),
    Mistake(
        "memory later", B, BOB + "buffer: [{at: ⇒1247-03-02T10:00, text: sat down}]\n",
        "entities.bob.buffer[1].at", "later than the start", "before",
    ),
    Mistake(
        "memory to come", B, BOB + "buffer: [{at: ⇒+10m, text: sat down}]\n",
        "entities.bob.buffer[1].at", "a time after the start", "`-10m`",
    ),
    Mistake(
        "memory without sign", B, BOB + "ledger: [{at: ⇒3d, text: x}]\n",
        "entities.bob.ledger[1].at", "a time after the start", "`-3d`",
    ),
    Mistake("memory unit", B, BOB + "ledger: [{at: ⇒-3x, text: x}]\n", "entities.bob.ledger[1].at", "`-3x` is not a date", "-10m"),
    Mistake("memory too old", B, BOB + "ledger: [{at: ⇒-9999y, text: x}]\n", "entities.bob.ledger[1].at", "before the year 1", ""),
    Mistake(
        "memory ends", B, BOB + "ledger: [{at: -1d, until: ⇒-2d, text: x}]\n",
        "entities.bob.ledger[1].until", "ends before it begins", "",
    ),
    Mistake("memory without time", B, BOB + "ledger: [⇒{text: x}]\n", "entities.bob.ledger[1].at", "`at` is missing", ""),
    Mistake(
        "kind", B, BOB + "buffer: [{at: -1m, kind: ⇒dialog, text: The day.}]\n",
        "entities.bob.buffer[1].kind", "`dialog` is no kind", "`dialogue`",
    ),
    Mistake(
        "speaker", B, BOB + "buffer: [{at: -1m, kind: said, by: ⇒bil, text: Hm}]\n",
        "entities.bob.buffer[1].by", "no entity `bil`", "`bill`",
    ),
    Mistake(
        "hearer", B, BOB + "buffer: [{at: -1m, kind: said, to: [⇒bil], text: Hm}]\n",
        "entities.bob.buffer[1].to[1]", "no entity `bil`", "`bill`",
    ),
    Mistake(
        "thoughts of others", B, BOB + "buffer: [{at: -1m, kind: thought, by: ⇒bill, text: Hm}]\n",
        "entities.bob.buffer[1].by", "nobody perceives", "",
    ),
    Mistake(
        "reference in speech", B, BOB + "buffer: [{at: -1m, kind: said, text: Hello ⇒@bill}]\n",
        "entities.bob.buffer[1].text", "no references", "said or read",
    ),
    Mistake(
        "deed of no one", B, BOB + "buffer: [{at: -1m, text: ⇒The door opened.}]\n",
        "entities.bob.buffer[1].text", "does not say who did what", "begin with who",
    ),
    Mistake(
        "deed of two", B, BOB + "buffer: [{at: -1m, by: ⇒bob, text: '@bill sat'}]\n",
        "entities.bob.buffer[1].by", "about another", "",
    ),
    Mistake(
        "failed speech", B, BOB + "buffer: [{at: -1m, kind: said, text: Hm, failed: ⇒no}]\n",
        "entities.bob.buffer[1].failed", "only an action", "",
    ),
    Mistake(
        "memory of a thing", B, "id: bob\nat: bar\nledger: ⇒[{at: -1d, text: x}]\n",
        "entities.bob.ledger", "only an agent remembers", "agent: true",
    ),
    Mistake(
        "memory place", B, BOB + "ledger: [{at: -1d, text: x, place: ⇒celler}]\n",
        "entities.bob.ledger[1].place", "no place `celler`", "`cellar`",
    ),
    Mistake(
        "importance", B, BOB + "ledger: [{at: -1d, text: x, importance: ⇒11}]\n",
        "entities.bob.ledger[1].importance", "from 1 to 10", "",
    ),
    Mistake(
        "pin", B, BOB + "buffer: [{at: -1m, text: sat, pinned: ⇒mdoel}]\n",
        "entities.bob.buffer[1].pinned", "`mdoel` is no pinned", "`model`",
    ),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_reported_once_and_where_it_stands(mistake: Mistake, only_problem: Callable[[str, str], tuple[str, str, str]]) -> None:
    mistake.check(only_problem)
