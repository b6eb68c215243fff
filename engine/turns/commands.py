"""What a person types: verbs and quoted speech, understood without a model (DESIGN 6)."""

import re
from collections.abc import Sequence

from engine.errors import CommandError
from engine.mind.aliases import find, vocabulary
from engine.mind.whereabouts import where
from engine.prompts.scene import Scene
from engine.records.base import EntityId
from engine.records.intents import Intent, Verb
from engine.records.tokens import token
from engine.records.world import Portal, World

HELP = (
    'say TEXT · "TEXT" · tell WHO TEXT · whisper to WHO: TEXT · shout TEXT · think TEXT · go WHERE · look [WHAT] · take WHAT · '
    "give WHAT to WHO · drop WHAT · read/open/close/lock/unlock WHAT · inventory · wait · sleep · wake [WHO] · or plain prose"
)
_QUOTED = re.compile(r'^\s*["“](?P<text>[^"“”]+)["”]\s*$')
_TO = re.compile(r"^(?:to\s+)?(?P<who>[^:,\"“]+?)\s*(?:[:,]\s*|\s+(?=[\"“]))(?P<text>.+)$", re.IGNORECASE | re.DOTALL)
_SPEECH: dict[str, Verb] = {"say": "say", "tell": "say", "whisper": "whisper", "shout": "shout", "yell": "shout"}
_DEEDS: dict[str, tuple[Verb, str]] = {
    "take": ("take", "took"), "get": ("take", "took"), "drop": ("drop", "put down"), "wake": ("wake", "woke"),
    "read": ("other", "read"),
}
_LONGEST = 4000
"""Characters of one line."""
_COMPASS = frozenset({"n", "e", "w", "ne", "nw", "se", "sw", "north", "east", "south", "west", "northeast", "northwest"})
_CLIMBS = re.compile(r"(?<!\w)(stairs?|stairway|steps|ladder|hatch|trap)(?!\w)", re.IGNORECASE)
_PORTALS: dict[str, tuple[Verb, str]] = {
    "open": ("open", "opened"), "close": ("close", "closed"), "shut": ("close", "closed"),
    "lock": ("lock", "locked"), "unlock": ("unlock", "unlocked"),
}


def parse(world: World, actor: EntityId, text: str) -> list[Intent]:
    """The intents of a command or of a line that is all quoted speech; empty when only a decoder can tell.

    Raises `CommandError` when a command names somebody or something that is not there, or that fits several.
    """
    return _Reader(world, actor).read(text.strip())


class _Reader:
    def __init__(self, world: World, actor: EntityId) -> None:
        self._world, self._actor, self._scene = world, actor, Scene(world, actor)

    def read(self, text: str) -> list[Intent]:
        if len(text) > _LONGEST:
            raise CommandError(f"That is {len(text):,} characters long.", f"Say it in {_LONGEST:,}.")
        if quoted := _QUOTED.match(text):
            return [self._speech("say", quoted["text"])]
        word, _, rest = text.partition(" ")
        word, rest = word.lower().rstrip(":"), rest.strip()
        if not rest and word.rstrip("s") in _COMPASS:
            raise CommandError("Nobody here goes by the compass.", self._ways())
        if not rest and word in ("inventory", "inv", "i"):
            return [self._deed(text, "look", "looked over what was in hand", (self._actor,))]
        if not rest and word == "exits":
            word = "look"
        if word in _SPEECH and rest:
            return self._spoken(word, rest)
        if word == "think" and rest:
            thought = rest.strip("*_")
            return [Intent(type="monologue", verb="think", text=thought, actor=self._actor)]
        if word in ("go", "enter", "leave") and len(rest.split()) <= 8:
            return self._go(text, word, rest)
        if word in ("look", "examine", "l", "x") and len(rest.split()) <= 6:
            return self._look(text, rest)
        if word == "wait" and not rest:
            return [self._deed(text, "wait", "waited")]
        if word == "sleep" and not rest:
            return [self._deed(text, "sleep", "slept")]
        if word == "give" and (match := re.match(r"(?P<what>.+?)\s+to\s+(?P<who>.+)$", rest, re.IGNORECASE)):
            thing, who = self._one(match["what"]), self._one(match["who"])
            return [self._deed(text, "give", f"gave {token(thing)} to {token(who)}", (thing, who))]
        if word == "wake" and rest.lower() in ("", "up"):
            return [self._deed(text, "wake", "woke")]
        if word in _DEEDS and rest and len(rest.split()) <= 8:
            verb, past = _DEEDS[word]
            what, _, owner = rest.partition(" from ") if verb == "take" else (rest, "", "")
            thing = self._one(what)
            return [self._deed(text, verb, f"{past} {token(thing)}", (thing, self._one(owner)) if owner else (thing,))]
        if word in _PORTALS and rest and len(rest.split()) <= 6:
            verb, past = _PORTALS[word]
            if portal := self._way(rest):
                return [self._deed(text, verb, f"{past} {portal.name}", portal=portal)]
            thing = self._one(rest)
            return [self._deed(text, verb, f"{past} {token(thing)}", (thing,))]
        return []

    def _spoken(self, word: str, rest: str) -> list[Intent]:
        verb = _SPEECH[word]
        addressed = word in ("tell", "whisper") or rest.lower().startswith("to ")
        if addressed and (match := _TO.match(rest)):
            return [self._speech(verb, match["text"].strip(' "“”'), self._one(match["who"]))]
        if word in ("tell", "whisper"):
            words = re.sub(r"^to\s+", "", rest, flags=re.IGNORECASE)
            names = vocabulary(self._world, self._actor, self._scene.around)
            # `tell the wet stranger come in`: the longest name that the words begin with.
            for name in sorted(names, key=len, reverse=True):
                if match := re.match(rf"(?:the\s+)?{re.escape(_plain(name))}\s+(?=\w)", words, re.IGNORECASE):
                    return [self._speech(verb, words[match.end() :].strip('"“”'), names[name])]
            raise CommandError(f"Whom do you mean to {word}?", f"Write `{word} NAME: words`. {self._around()}")
        return [self._speech(verb, rest.strip('"“”'))]

    def _speech(self, verb: Verb, words: str, to: EntityId | None = None) -> Intent:
        if not words.strip():
            raise CommandError("Say what?", "Write the words after it.")
        people = list(self._scene.senses.here)
        if to is None:
            called = [i for i in people if re.search(rf"(?<!\w){re.escape(self._scene.name(i))}(?!\w)", words, re.IGNORECASE)]
            to = called[0] if called else people[0] if len(people) == 1 else None
        modifiers = {"whisper": ("whispering",), "shout": ("shouting",)}.get(verb, ())
        return Intent(type="dialogue", verb=verb, text=words.strip(), actor=self._actor, targets=(to,) if to else (), modifiers=modifiers)

    def _go(self, text: str, word: str, rest: str) -> list[Intent]:
        wanted = re.sub(r"^(?:back to|up to|down to|to|into|through|in|out|down|up)\s+(?=\S)", "", rest, flags=re.IGNORECASE)
        ways = self._scene.ways()
        if not wanted or word == "leave":
            if len(ways) == 1:
                return [self._deed(text, "go", "left", portal=ways[0])]
            raise CommandError("Which way?", self._ways())
        here = self._world.places.get(self._scene.me.place or "")
        if here is not None and _plain(wanted) == _plain(here.name):
            raise CommandError(f"You are {where(here)} already.", self._ways())
        portal = self._way(wanted) or self._climb(wanted)
        if portal is None:
            raise CommandError(f'There is no way "{wanted}" from here.', self._ways())
        return [self._deed(text, "go", "went on", portal=portal)]

    def _look(self, text: str, rest: str) -> list[Intent]:
        wanted = re.sub(r"^(?:at|into|around|in)\s*", "", rest, flags=re.IGNORECASE).strip()
        if not wanted:
            return [self._deed(text, "look", "looked around")]
        if portal := self._way(wanted):
            return [self._deed(text, "look", f"looked at {portal.name}", portal=portal)]
        seen = self._one(wanted)
        return [self._deed(text, "look", f"looked at {token(seen)}", (seen,))]

    def _way(self, wanted: str) -> Portal | None:
        """The way whose name or destination is meant: all the words, then the only one that holds them."""
        key = _plain(wanted)
        here, places = self._scene.me.place or "", self._world.places
        named = {p: (_plain(p.name), _plain(places[p.leads(here) or p.b].name)) for p in self._scene.ways()}
        exact = [p for p, names in named.items() if key in names]
        partly = [p for p, names in named.items() if any(key in name.split() or key in name for name in names)]
        if exact:
            return exact[0]
        if len(partly) > 1:
            raise CommandError(f'"{wanted}" could be several ways.', self._ways())
        return partly[0] if partly else None

    def _climb(self, wanted: str) -> Portal | None:
        """The only stair or ladder here, for `go up` and the like."""
        climbs = [p for p in self._scene.ways() if _CLIMBS.search(p.name)]
        return climbs[0] if len(climbs) == 1 and wanted.lower() in ("up", "down", "upstairs", "downstairs") else None

    def _one(self, phrase: str) -> EntityId:
        around: Sequence[EntityId] = self._scene.around
        if phrase.strip().lower() in ("me", "myself", "self"):
            return self._actor
        found = find(self._world, self._actor, phrase.strip(' "“”.'), around)
        if len(found.ids) == 1 and not found.ambiguous:
            return found.ids[0]
        if found.ids:
            choices = " or ".join(self._scene.name(i) for i in found.ids)
            raise CommandError(f'"{phrase}" could be {choices}.', "Say which.")
        raise CommandError(f'There is no "{phrase}" here that you know of.', self._around())

    def _around(self) -> str:
        names = ", ".join(self._scene.name(i) for i in self._scene.around)
        return f"Around you: {names}." if names else "You are alone."

    def _ways(self) -> str:
        ways = "; ".join(self._scene.way(p) for p in self._scene.ways())
        return f"Ways out: {ways}." if ways else "There is no way out."

    def _deed(
        self, text: str, verb: Verb, summary: str, targets: tuple[EntityId, ...] = (), portal: Portal | None = None
    ) -> Intent:
        return Intent(
            type="action", verb=verb, text=text, summary=summary, actor=self._actor, targets=targets,
            portal=portal.id if portal else None,
        )


def _plain(name: str) -> str:
    return re.sub(r"^(?:the|a|an)\s+", "", name.strip().lower())
