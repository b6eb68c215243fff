"""Looking into minds from the command line."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

WORLD = Path(__file__).parents[2] / "worlds" / "salt-lantern"


def otherminds(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tui.start", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=os.environ | environment)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a save of some rounds."""
    folder = tmp_path_factory.mktemp("played")
    done = otherminds("run", "salt-lantern", "--rounds", "14", "--seed", "7", "--save", "a.db", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def recalled(folder: Path, *arguments: str) -> dict[str, Any]:
    done = otherminds("recall", "a.db", *arguments, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_candidate_is_there_with_a_score_that_is_the_sum_of_its_parts(played: Path) -> None:
    found = recalled(played, "--as", "tam_birrell")
    assert found["entity"] == "tam_birrell"
    assert (found["round"], found["problems"], found["embedder"]) == (14, [], "hash768")
    with closing(sqlite3.connect(played / "a.db")) as conn:
        held = {key for (key,) in conn.execute("SELECT id FROM ledger_entries WHERE owner_id = 'tam_birrell'")}
    assert {one["id"] for one in found["candidates"]} == held
    for one in found["candidates"]:
        assert one["score"] == pytest.approx(sum(one["parts"].values()), abs=1e-4)
        assert one["found_by"]
    ranks = [one["rank"] for one in found["candidates"] if one["rank"]]
    assert ranks == sorted(ranks)
    chosen = [one["id"] for one in found["chosen"]]
    assert 0 < len(chosen) <= 12
    assert all(one["tokens"] > 0 and one["reason"] for one in found["chosen"] + found["missed"])
    assert not set(chosen) & {one["id"] for one in found["missed"]}


def test_what_is_chosen_is_what_the_prompt_holds(played: Path) -> None:
    """The command shows the recall of the next prompt: the same memories stand in it."""
    chosen = {one["text"] for one in recalled(played, "--as", "ketil_rusk")["chosen"]}
    code = (
        "import asyncio, sys; from pathlib import Path; from engine.past import looking_into\n"
        "async def main():\n"
        "    async with looking_into(Path('a.db')) as (game, _): print((await game.preview('ketil_rusk')).text)\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=played, check=True)
    memories = done.stdout.split("=== YOUR MEMORIES ===")[1].split("===")[0]
    assert chosen
    for text in chosen:
        assert text in memories


def test_a_question_brings_up_what_answers_it(played: Path) -> None:
    with closing(sqlite3.connect(played / "a.db")) as conn:
        [(key, plain)] = conn.execute("SELECT id, plain FROM ledger_entries WHERE owner_id = 'orla_venn' ORDER BY seq LIMIT 1")
    found = recalled(played, "--as", "Orla Venn", "--query", plain)
    assert found["candidates"][0]["id"] == key
    assert found["query"] == plain


def test_an_earlier_round_knows_nothing_of_later_ones(played: Path) -> None:
    now, then = recalled(played, "--as", "tam_birrell"), recalled(played, "--as", "tam_birrell", "--at-round", "3")
    assert then["round"] == 3
    assert then["now"] < now["now"]
    assert 0 < len(then["candidates"]) < len(now["candidates"])
    assert all(one["timestamp"] <= then["now"] for one in then["candidates"])


def test_the_save_is_not_touched(played: Path) -> None:
    def state() -> tuple[str, list[str]]:
        return hashlib.sha256((played / "a.db").read_bytes()).hexdigest(), sorted(file.name for file in played.iterdir())

    before = state()
    recalled(played, "--as", "tam_birrell")
    recalled(played, "--as", "tam_birrell", "--at-round", "2")
    assert otherminds("audit", "a.db", cwd=played).returncode == 0
    assert state() == before


def test_people_read_it_too(played: Path) -> None:
    done = otherminds("recall", "a.db", "--as", "Tam", cwd=played)
    assert done.returncode == 0
    for words in ("Tam Birrell in round 14", "Comes to mind:", "Just missed", "memories were looked at closely"):
        assert words in done.stdout


@pytest.mark.parametrize("who", ["joss_pellam", "Joss Pellam", "joss", "Pellam", "the harbour master"])
def test_somebody_is_known_by_id_by_name_and_by_looks(played: Path, who: str) -> None:
    assert recalled(played, "--as", who)["entity"] == "joss_pellam"


WRONG = {
    "nobody": (("recall", "a.db", "--as", "tam_birel"), "Did you mean Tam Birrell (tam_birrell)?"),
    "nobody at all": (("recall", "a.db", "--as", "zzzz"), "There are "),
    "no such round": (("recall", "a.db", "--as", "tam_birrell", "--at-round", "99"), "It has rounds 0 (before the first) to 14"),
    "a round before all": (("recall", "a.db", "--as", "tam_birrell", "--at-round", "-1"), "There is no round -1"),
    "a blank query": (("recall", "a.db", "--as", "tam_birrell", "--query", " "), "The query is blank."),
    "no save": (("recall", "b.db", "--as", "tam_birrell"), "There is no save at"),
    "no save to audit": (("audit", "b.db"), "There is no save at"),
    "an embedder that is none": (("embed", "b.db"), "There is no save at"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_told_in_a_line(played: Path, case: str) -> None:
    arguments, words = WRONG[case]
    done = otherminds(*arguments, cwd=played)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (played / "b.db").exists()


def test_an_unknown_embedder_in_the_settings_is_told(played: Path) -> None:
    done = otherminds("embed", "a.db", cwd=played, OTHERMINDS_EMBED="hash786")
    assert done.returncode == 1
    assert "did you mean `hash768`" in done.stderr


def test_memories_that_stand_twice_are_listed(played: Path) -> None:
    with closing(sqlite3.connect(played / "a.db")) as source, closing(sqlite3.connect(played / "twice.db")) as conn:
        source.backup(conn)
        [(key, number)] = conn.execute("SELECT id, seq FROM ledger_entries WHERE owner_id = 'orla_venn' ORDER BY seq LIMIT 1")
        conn.execute("UPDATE counters SET value = value + 1 WHERE name = 'led'")
        conn.execute(
            "INSERT INTO ledger_entries SELECT 9999, 'led-009999', owner_id, timestamp, ended, location_id, involved_json, content,"
            " quotes_json, importance, mode, run_id, version, plain, origin, created_round FROM ledger_entries WHERE seq = ?", (number,),
        )
        conn.execute(
            "INSERT INTO embeddings (owner_kind, id, model, dim, vector)"
            " SELECT owner_kind, 'led-009999', model, dim, vector FROM embeddings WHERE id = ?", (key,),
        )
        conn.commit()
    done = otherminds("audit", "twice.db", "--json", cwd=played)
    pairs = json.loads(done.stdout)["near_duplicates"]
    assert [key, "led-009999"] in [[pair["first"], pair["second"]] for pair in pairs]
    told = otherminds("audit", "twice.db", "--as", "Orla Venn", cwd=played)
    assert "led-009999" in told.stdout


def test_embedding_again_says_so(played: Path) -> None:
    assert otherminds("embed", "a.db", cwd=played).stdout == "All memories have a vector by hash768 already.\n"


def test_a_run_whose_handoffs_ask_first_says_that_they_wait(tmp_path: Path) -> None:
    shutil.copytree(WORLD, tmp_path / "w")
    with (tmp_path / "w" / "world.yaml").open("a", encoding="utf-8") as file:
        file.write("\npolicies: {handoff: {review: ask}}\n")
    done = otherminds("run", "w", "--rounds", "2", "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["handoffs"]["runs"]) == (0, 0)
    assert "handoffs wait for a person" in done.stderr


def test_compressions_are_no_handoffs(tmp_path: Path) -> None:
    shutil.copytree(WORLD, tmp_path / "w")
    with (tmp_path / "w" / "world.yaml").open("a", encoding="utf-8") as file:
        file.write("\npolicies: {compression: {limit: 10, newest: 2}}\n")
    summary = json.loads(otherminds("run", "w", "--rounds", "15", "--seed", "7", "--save", "c.db", "--json", cwd=tmp_path).stdout)
    with closing(sqlite3.connect(tmp_path / "c.db")) as conn:
        runs = dict(conn.execute("SELECT kind, count(*) FROM handoff_runs GROUP BY kind").fetchall())
    assert runs["compression"] > 0
    assert (summary["handoffs"]["runs"], summary["compressions"]) == (runs["handoff"], runs["compression"])
