import os

import pytest

from episodes import read_steps
from episodes.miniwob import (
    DEMONSTRATORS,
    Browser,
    BrowserError,
    find_chromium,
    parse_seeds,
    record,
)
from episodes.miniwob.browser import Node, Screen
from episodes.miniwob.demonstrators import played
from tests.steps import CANCEL, OK, png


def has_chromium() -> bool:
    try:
        find_chromium()
    except BrowserError:
        return False
    return True


browser = pytest.mark.skipif(
    not has_chromium(), reason="Chromium and ChromeDriver are not installed"
)


def test_seeds_are_numbers_and_ranges():
    assert parse_seeds("3,7,10-12") == [3, 7, 10, 11, 12]
    with pytest.raises(ValueError, match="named twice"):
        parse_seeds("1-5,3")
    for text in ("", "a", "5-3", "1-", "-4"):
        with pytest.raises(ValueError, match="neither a number nor a range"):
            parse_seeds(text)


def test_missing_chromium_tells_how_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MINIWOB_CHROME_BINARY", raising=False)
    monkeypatch.delenv("MINIWOB_CHROMEDRIVER", raising=False)
    with pytest.raises(BrowserError, match="apt-get install chromium chromium-driver"):
        find_chromium()
    with pytest.raises(BrowserError, match="apt-get install"):
        record(tmp_path / "t.parquet", {"click-test": [0]}, processes=2)
    assert not list(tmp_path.iterdir())


def test_demonstrator_clicks_what_is_named_and_gives_up_where_it_is_missing():
    nodes = tuple(Node(e, "", (), -1) for e in (CANCEL, OK))
    plan = played("click-button", Screen('Click on the "OK" button.', nodes, png()))
    action, element = next(plan)
    assert element == OK
    assert action.point == OK.centre
    assert list(played("click-button", Screen('Click on the "No" button.', nodes, png()))) == []


def test_unknown_task_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no demonstrator for fly-plane"):
        record(tmp_path / "t.parquet", {"fly-plane": [0]})


@browser
def test_recording_is_seeded_restartable_and_never_overwrites(tmp_path):
    plan = {"login-user": [1], "grid-coordinate": [1, 2], "click-color": [3]}
    table = record(tmp_path / "a.parquet", plan, progress=False)
    assert [s.action.kind for s in table[:5]] == ["click", "type", "click", "type", "click"]
    assert all(s.target_element is not None for s in table)
    assert table[7].target_element.appearance in table[7].instruction
    os.remove(tmp_path / "a.parquet")
    os.remove(tmp_path / "a.parts" / "login-user.1.parquet")
    again = record(tmp_path / "a.parquet", plan, split="query", processes=2, progress=False)
    assert list(again) == list(table)
    assert set(again.frame["split"]) == {"query"}
    with pytest.raises(ValueError, match="exists already"):
        record(tmp_path / "a.parquet", plan)
    assert len(read_steps(tmp_path / "a.parquet")) == len(table)


@browser
@pytest.mark.slow
def test_every_demonstrator_earns_reward_on_some_page():
    with Browser() as page:
        for task in DEMONSTRATORS:
            assert any(earns(page, task, seed) for seed in range(100, 112)), task


def earns(page: Browser, task: str, seed: int) -> bool:
    from episodes.miniwob import record_episode

    return record_episode(page, task, seed, "train") is not None
