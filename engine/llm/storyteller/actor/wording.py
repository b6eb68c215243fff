"""A plan put into prose: the first person, the present tense, one to three sentences."""

from engine.llm.storyteller.actor.dice import Dice
from engine.llm.storyteller.actor.plan import Plan
from engine.llm.storyteller.actor.scene import Person
from engine.llm.storyteller.language.text import sentences

_SAY = (
    'I say to {to}, "{words}"', '"{words}" I say to {to}.', '"{words}" I tell {to}.', 'I tell {to}, "{words}"', '"{words}" I say to {to}.',
    'I turn to {to} and say, "{words}"',
)  # fmt: skip
_ASK = ('I ask {to}, "{words}"', '"{words}" I ask {to}.', 'I turn to {to} and ask, "{words}"', '"{words}" I ask {to}.')
_LOW = ('I say {how} to {to}, "{words}"', '"{words}" I say {how} to {to}.', 'I turn to {to} and say {how}, "{words}"')
_WHISPER = ('I lean close to {to} and whisper, "{words}"', '"{words}" I whisper to {to}.', 'I whisper to {to}, "{words}"')
_SHOUT = ('I shout to {to}, "{words}"', '"{words}" I shout to {to}.')
_OPEN = ('I say to the room, "{words}"', '"{words}" I say to the room.')
_SHOUT_OPEN = ('I shout, "{words}"', '"{words}" I shout.')
_TITLES = ("mr", "mrs", "ms", "miss", "mistress", "master", "captain", "dr", "doctor", "lady", "lord", "sir", "father", "mother", "old")


def prose(plan: Plan, dice: Dice, listener: Person | None = None) -> str:
    """The prose of a plan. `listener` is whom it speaks to, for calling a person by name now and then."""
    parts: list[str] = []
    before = [deed for deed in plan.before if deed]
    if plan.words and before and plan.to and plan.to in before[-1] and plan.tone != "shout":
        parts += [f"I {deed}." for deed in before]
        tag = " I whisper." if plan.tone == "whisper" else f" I say {plan.how}." if plan.how else ""
        parts.append(f'"{plan.words}"{tag}')
    elif plan.words:
        said = _tagged(plan, dice, _called(plan.words, listener, dice))
        if before and said.startswith("I ") and len(before) == 1 and "," not in before[0]:
            parts.append(f"I {before[0]} and {said[2:]}")
        else:
            parts += [f"I {deed}." for deed in before]
            parts.append(said)
    else:
        parts += [f"I {deed}." for deed in before]
    parts += [f"I {deed}." for deed in plan.after if deed]
    if plan.thought:
        parts.append(f"*{plan.thought}*")
    return " ".join(parts)


def _tagged(plan: Plan, dice: Dice, words: str) -> str:
    forms: tuple[str, ...]
    if not plan.to:
        forms = _SHOUT_OPEN if plan.tone == "shout" else _OPEN
    elif plan.tone == "shout":
        forms = _SHOUT
    elif plan.tone == "whisper":
        forms = _WHISPER
    elif plan.how:
        forms = _LOW
    else:
        forms = _ASK if plan.tone == "ask" or words.endswith("?") else _SAY
    return dice.pick(forms, "tag").format(to=plan.to, words=words, how=plan.how)


def _called(words: str, listener: Person | None, dice: Dice) -> str:
    """The words with the listener's name in them, now and then, when the name is known."""
    if listener is None or not listener.known or dice.share("call by name") > 0.3 or listener.name.split()[-1] in words:
        return words
    parts = listener.name.split()
    name = listener.name if parts[0].lower().rstrip(".") in _TITLES else parts[0]
    first, *rest = sentences(words)
    if first[-1] in ".?!" and len(first.split()) > 2 and "'" not in first:
        return " ".join([f"{first[:-1]}, {name}{first[-1]}", *rest])
    return words
