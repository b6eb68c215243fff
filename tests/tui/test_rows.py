"""The list under every pane."""

from pathlib import Path

from textual.app import App, ComposeResult
from textual.content import Content

import tui.app
from tui.app import OthermindsApp
from tui.panes.rows import Row, RowList


class RowApp(App[None]):
    CSS_PATH = Path(tui.app.__file__).with_name("app.tcss")
    get_theme_variable_defaults = OthermindsApp.get_theme_variable_defaults

    def __init__(self, rows: list[Row], follow: bool = False) -> None:
        super().__init__()
        self.rows, self.follow = rows, follow
        self.picked: list[str] = []

    def compose(self) -> ComposeResult:
        yield RowList(follow=self.follow, id="rows")

    def on_mount(self) -> None:
        self.query_one(RowList).show(self.rows)

    def on_row_list_picked(self, event: RowList.Picked) -> None:
        self.picked.append(event.key)


def row(text: str, key: str = "", lead: str = "") -> Row:
    return Row(Content(text), key=key, lead=Content(lead))


async def test_the_cursor_goes_over_rows_that_can_be_chosen() -> None:
    app = RowApp([row("head"), row("one", "1"), row("rule"), row("two", "2")])
    async with app.run_test() as pilot:
        rows = app.query_one(RowList)
        rows.focus()
        await pilot.pause()
        assert rows.cursor == "1"
        await pilot.press("down", "down")
        assert rows.cursor == "2"
        await pilot.press("home")
        rows.pick()
        await pilot.pause()
        assert app.picked == ["1"]
        assert "›one" in "\n".join(rows.render_line(y).text for y in range(4))  # noqa: RUF001


async def test_the_cursor_stays_on_its_row_when_rows_come_and_goes_on_when_it_leaves() -> None:
    one, two, three = row("one", "1"), row("two", "2"), row("three", "3")
    app = RowApp([one, two])
    async with app.run_test() as pilot:
        rows = app.query_one(RowList)
        rows.focus()
        await pilot.press("down")
        rows.show([three, one, two])
        assert rows.cursor == "2"
        rows.show([three, one])
        assert rows.cursor == "3"


async def test_long_text_wraps_under_itself_and_is_wrapped_again_for_another_width() -> None:
    app = RowApp([row("word " * 40, "1", lead=">> ")])
    async with app.run_test(size=(40, 20)) as pilot:
        rows = app.query_one(RowList)
        narrow = rows.text().splitlines()
        assert narrow[0].startswith(">> word")
        assert all(line.startswith("   word") for line in narrow[1:])
        assert max(map(len, narrow)) <= 40
        await pilot.resize_terminal(80, 20)
        await pilot.pause()
        assert len(rows.text().splitlines()) < len(narrow)


async def test_a_list_that_follows_its_end_lets_one_read_further_up() -> None:
    lines = [row(f"line {number}") for number in range(100)]
    app = RowApp(lines, follow=True)
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        await pilot.pause()
        assert rows.scroll_offset.y == 90
        lines.append(row("line 100"))
        rows.show(list(lines))
        assert rows.scroll_offset.y == 91
        rows.focus()
        await pilot.press("pageup")
        await pilot.pause()
        here = rows.scroll_offset.y
        lines.append(row("line 101"))
        rows.show(list(lines))
        assert rows.scroll_offset.y == here < 91


async def test_a_tail_stands_at_the_right_end_and_text_keeps_clear_of_it() -> None:
    app = RowApp([Row(Content("name " * 12), tail=Content("the quay"))])
    async with app.run_test(size=(40, 10)):
        first = app.query_one(RowList).text().splitlines()[0]
        assert first.endswith(" the quay")
        assert len(first) <= 40
