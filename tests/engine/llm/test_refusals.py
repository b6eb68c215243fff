"""The model's own voice is told from its characters': refusals and errors in place of a reply, and lines that only sound like them."""

import pytest

from engine.llm.refusals import no_reply, refuses

CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"
REFUSALS = [
    "I'm sorry, but I can't continue with this request.",
    "I'm sorry, but I can't assist with that.".replace("'", CURLY),
    "I'm sorry, but I can't help with that.",
    "I'm sorry, I can't help with that. Is there something else I can do?",
    "I am sorry, but I cannot fulfill this request.",
    "Sorry, but I can't assist with that request.",
    "I apologize, but I cannot continue this roleplay.",
    "I apologize, but I'm not able to generate content that depicts violence.",
    "I cannot provide content of this kind.",
    "I can't create explicit content.",
    "I can't assist with that.",
    "I cannot and will not write this scenario.",
    "I'm unable to help with that request. If you have any other questions, let me know.",
    "I won't be able to continue this role-play, as it involves harm.",
    "I must decline this request.",
    "I don't feel comfortable continuing this scenario.",
    "I'm not comfortable writing this kind of content.",
    "As an AI language model, I don't have feelings or a body.",
    "As an AI, I can't take part in that.",
    "I'm just an AI, so I cannot do this.",
    "As a large language model, I have no opinions.",
    "I understand you want a darker story, but I can't write explicit material.",
    "I'm sorry, but I can't comply with this request, as it asks for harm. Please ask for something else.",
    "I can't assist with this request. However, I'd be happy to help with another story.",
    "This request violates our content policy.",
    "Your prompt was flagged as potentially violating our usage policy.",
    "It would be against my guidelines to go on.",
    "**I'm sorry, but I can't continue with this request.**",
    "*I'm sorry, but I can't assist with that.*",
    "(OOC: I'm sorry, but I can't continue this roleplay.)",
    "\n\nI'm sorry, but I cannot assist with that request.\n",
    "Thank you for the prompt, but I can't write this scenario.",
]
CHARACTERS = [
    '"I\'m sorry, but I can\'t stay," she says and takes her cloak.',
    "“I'm sorry, but I can't help with that request,” the clerk says.".replace("'", CURLY),
    "'I cannot fulfil this request,' says the clerk.",
    "«I can't assist with that», says the guard.",
    "I'm sorry, but I can't stay. I take my cloak.",
    "I am sorry, but I cannot help him now; I turn away and bar the door.",
    "I can't help with that. I shrug and turn back to the fire.",
    "I can't help but smile at the ferryman.",
    "I can't continue. My legs give way and I sit down in the snow.",
    "I cannot continue up the stair, so I wait below.",
    "I won't go with them. I plant my feet.",
    "I'm afraid I can't let you pass, I tell the boy.",
    "I must decline the cup. I push it back across the table.",
    "I have to decline, so I shake my head.",
    "I refuse. Nobody will make me open that gate.",
    "I'm unable to lift the beam, so I call for Gareth.",
    "I am not able to see in the dark; I grope for the lantern.",
    "I don't feel comfortable here. I move closer to the wall.",
    "I'm sorry. I put the letter down.",
    "Sorry, I mutter, and step aside.",
    "Unfortunately the rope is too short. I cannot reach the ledge.",
    "I understand him now. I cannot forgive him, but I nod.",
    "I apologize to the widow and cannot meet her eyes.",
    "As an aide to the duke, I bow first.",
    "As an airship drifts over, I look up.",
    "I'm an aide, nothing more. I wait.",
    "I'm an aimless man tonight; I walk the quay.",
    "The request lies on the table. I cannot read it.",
    "Gareth shakes his head. \"I can't help with that request.\"",
    "She can't assist with that. She folds her arms.",
    "I can't comply, I think, and lower the sword.",
    "I cannot help you, I say to the beggar, and walk on.",
    "I can't stay silent while they burn the mill. I stand up.",
    "I won't answer. I look at the sea.",
    "*I can't go on,* I think.",
    "This message was left for me. I fold it up.",
    "Your prompt arrival surprises me, I tell her.",
    "It's against my nature, but I laugh.",
    "I can't help with that",
    "I cannot fulfil this request, I tell the envoy.",
    "I can't follow the instructions on the scroll.",
    "I'm sorry, but I can't help with that. I bar the door and wait.",
    "I can't provide the timber they ask for; I say so to the duke.",
    "I am sorry, but I cannot. I shut the window.",
    "I won't assist. I fold my arms.",
    "I can't be content with so little, and I say so.",
    "",
]


@pytest.mark.parametrize("prose", REFUSALS)
def test_the_models_own_voice(prose: str) -> None:
    assert refuses(prose)
    assert not no_reply(prose)


@pytest.mark.parametrize("prose", CHARACTERS)
def test_a_characters_lines(prose: str) -> None:
    assert not refuses(prose)


@pytest.mark.parametrize(("text", "what"), [
    ("", "nothing"),
    (" \n\t", "nothing"),
    ("<!DOCTYPE html>\n<html><head><title>502</title></head></html>", "a web page"),
    ("<html>\r\n<body>Welcome</body>", "a web page"),
    ("<?xml version='1.0'?><Error><Code>x</Code></Error>", "a web page"),
    ('{"error": {"message": "overloaded", "code": 503}}', "an error"),
    ('{"detail": "Not Found"}', "an error"),
    ('{"object": "error", "message": "no such model", "type": "NotFoundError", "error": "x"}', "an error"),
    ("Error: upstream model is not available (code 503). Please try again later.", "an error"),
    ("[ERROR]: generation failed", "an error"),
    ("Error code: 503 - try later", "an error"),
    ("502 Bad Gateway", "an error"),
    ("HTTP/1.1 504 Gateway Time-out", "an error"),
    ("Internal Server Error", "an error"),
    ("upstream connect error or disconnect/reset before headers. reset reason: overflow", "an error"),
    ("litellm.APIConnectionError: refused", "an error"),
    ("Traceback (most recent call last):\n  File x", "an error"),
    ("An error occurred while processing your request.", "an error"),
    ("Rate limit exceeded, retry after 20 s", "an error"),
])
def test_what_stands_in_place_of_a_reply(text: str, what: str) -> None:
    assert no_reply(text) == what
    assert not refuses(text)


@pytest.mark.parametrize("text", [
    "She nods.",
    "Error is human, I think, and forgive him.",
    '"Error: none," the golem says. "All is well."',
    "The error: he trusted them. I say nothing.",
    "502 steps lead down. I count them all.",
    "500 men stand on the wall.",
    "<b>I bow</b>",
    '{"intents": []}',
    '{"reason": "An error of mine", "possible": true, "minutes": 1}',
    '{"error": "x", "reason": "y"}',
    '[{"type": "dialogue"}]',
    "{not json",
    "Internal doubts gnaw at me.",
    "Nothing found? I search on.",
    "Too many requests of this kind reach me, I sigh.",
])
def test_what_is_a_reply(text: str) -> None:
    assert no_reply(text) == ""


@pytest.mark.parametrize("text", ["I'm sorry, " * 20_000, "I understand " + "a " * 99_000, "<" * 99_000, "{" * 99_000, "I can't " * 20_000])
def test_long_texts_take_no_time(text: str) -> None:
    assert not no_reply(text)
    assert not refuses(text)
