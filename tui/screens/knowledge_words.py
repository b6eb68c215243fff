"""What the Knowledge screen says of its shelves: whose knowledge it is, what is left out, and what will fill one that is empty."""

from typing import TYPE_CHECKING

from tui.panes.known_ask import nearest
from tui.text import plain

if TYPE_CHECKING:
    from engine.memory.knowledge.history import Question
    from tui.screens.knowledge_reading import ShelvesScreen

_HAND = "+ writes a piece by hand."
_ASKED = (
    "Ask above what somebody believed, at any round that was played: their words of then are kept. Or open a piece and read below it how "
    "it came to be what it is."
)
_REVIEW = (
    "Nothing waits for your word. Promotion, every few hours of the world's time or when you press P, sets aside what is sensitive, or "
    "stands against what others hold already, before more people come to know it. It waits here with who would come to know it."
)
_GONE = "Nothing was deleted here, and nothing was merged into another."
_ENDED = "Nothing here has ended: a piece ends when something contradicts it later, or when you reject it."


def empty_words(screen: "ShelvesScreen") -> str:
    """Why the shelf in sight is empty, and what will fill it."""
    if screen.shelf == "review":
        return _REVIEW
    if screen.shelf == "asked":
        return _nothing_believed(screen) if screen.question is not None else _ASKED
    only, words = screen.asked.only, screen.asked.words
    if words or only.kind or only.subject or only.tier or only.term:
        return "Nothing here fits. esc shows all again."
    if only.state == "gone":
        return _GONE
    if only.state == "ended":
        return _ENDED
    return f"{_nobody(screen)} {_filling(screen)} {_HAND}"


def _nobody(screen: "ShelvesScreen") -> str:
    whose = screen.asked.whose
    match whose.scope:
        case "entity":
            return f"{screen.called(whose.key)} knows nothing yet beyond what is remembered. w looks at somebody else, or at all."
        case "faction":
            return f"Nothing is known to all of the faction {whose.key} yet."
        case "world":
            return "Nothing is known to everybody yet."
        case "all":
            return "Nobody knows anything yet beyond what is remembered."


def _filling(screen: "ShelvesScreen") -> str:
    match screen.game.policies.sessions.pairs:
        case "all":
            how = "What people say to each other gathers in sessions"
        case "player":
            how = "In this world what others say to whom you play gathers in sessions (t in Play takes somebody over)"
        case "none":
            return "In this world talk gathers in no sessions: what is known is written by hand, or comes with the world."
    return f"{how}; when they have done with each other, what recurs or was pinned stays as knowledge."


def _nothing_believed(screen: "ShelvesScreen") -> str:
    asked = screen.question
    if asked is None:
        return _ASKED
    who = _who(screen, asked)
    if asked.about:
        return f"{who} believed nothing about {screen.called(asked.about)} then. Ask without a name to see all that was believed."
    return f"{who} believed nothing at the end of round {asked.round} beyond what was remembered."


def _who(screen: "ShelvesScreen", asked: "Question") -> str:
    """Whose mind a question asks about."""
    return screen.called(asked.entity) if asked.entity else "anybody"


def problem_words(screen: "ShelvesScreen") -> str:
    """What is wrong with a question of which nothing was found though it was understood; nothing when there is nothing wrong."""
    asked = screen.question
    if asked is None or screen.answer or not asked.query:
        return ""
    who, words = _who(screen, asked), asked.query
    advice = nearest(words, list(screen.names().values()))
    return f"Nobody and nothing is called “{words}”, and no word of it stands in what {who} believed then. {advice}"


def how_to_ask(screen: "ShelvesScreen") -> str:
    """A question that would be understood, with people of this world."""
    minds = [plain(screen.called(one.id)) for one in screen.game.world.agents()]
    who, about = [*minds, "Mira", "the boat"][:2]
    return f"Ask, say: What did {who} believe about {about} at round {screen.game.world.round}?"


def whose_words(screen: "ShelvesScreen") -> str:
    """Whose knowledge is looked at."""
    whose = screen.asked.whose
    match whose.scope:
        case "all":
            return "All that is known"
        case "world":
            return "What everybody knows"
        case "faction":
            return f"What the faction {plain(whose.key)} knows"
        case "entity":
            return f"What {plain(screen.called(whose.key))} knows"


def title_words(screen: "ShelvesScreen") -> str:
    """What the shelf in sight holds, and what of it is shown."""
    if screen.shelf == "review":
        return "Waits for your word"
    if screen.shelf == "asked":
        return _asked(screen)
    only = screen.asked.only
    parts = [
        whose_words(screen), {"believed": "", "ended": "ended", "both": "also ended", "gone": "no more"}[only.state],
        f"{only.kind} only" if only.kind else "", f"about {plain(screen.called(only.subject))}" if only.subject else "", only.tier or "",
        f"{only.term}-term" if only.term else "", f"“{plain(' '.join(screen.asked.words))}”" if screen.asked.words else "",
    ]
    return " · ".join(part for part in parts if part)


def _asked(screen: "ShelvesScreen") -> str:
    asked = screen.question
    if asked is None:
        return "The answer"
    about = f" about {plain(screen.called(asked.about) if asked.about else asked.query)}" if asked.about or asked.query else ""
    return f"What {plain(_who(screen, asked))} believed{about}, end of round {asked.round}"
