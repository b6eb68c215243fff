"""`otherminds knowledge`: what people know, how they came to, who else is to know it, and changes by hand (DESIGN 10)."""

import typer

from tui import cli_knowledge_hand as hand
from tui import cli_knowledge_looks as looks

knowledge = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True,
    help="What people know: lists, how it came to be, what waits for your word, who is to know it, and changes by hand.",
)
knowledge.command(name="list")(looks.list_)
for _command in (
    looks.show, looks.history, looks.audit, looks.queue, looks.ask, hand.approve, hand.reject, hand.rescope, hand.add, hand.edit,
    hand.delete, hand.restore, hand.promote,
):  # fmt: skip
    knowledge.command()(_command)
