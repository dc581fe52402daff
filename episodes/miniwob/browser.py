"""A MiniWoB++ page in a headless Chromium: reset it by seed, look at it, act on it.

Convention: the screen is the square of 160 x 160 CSS pixels below the band in which MiniWoB++ prints
the task. The band is left out because the agent gets the instruction in words, and a withheld word
must not be readable in the picture. This file is the border at which pixels become fractions and back.
"""

from __future__ import annotations

import base64
import io
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from episodes.action import Action, Point
from episodes.element import Element

WIDTH, HEIGHT, TOP = 160, 160, 50
INSTALL_HINT = (
    "install them with `apt-get install chromium chromium-driver` (Debian, Ubuntu) or set "
    "MINIWOB_CHROME_BINARY and MINIWOB_CHROMEDRIVER to their paths"
)
_CHROMIUM_FLAGS = (
    "--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
    "--force-device-scale-factor=1", "--window-size=500,400", "--force-color-profile=srgb",
)  # fmt: skip
_KEYS = {"enter": ("Enter", 13), "tab": ("Tab", 9), "backspace": ("Backspace", 8)}
_SNAPSHOT = Path(__file__).with_name("snapshot.js").read_text(encoding="utf-8")


class BrowserError(RuntimeError):
    """Chromium or its driver is missing, or the page did not do what was asked."""


@dataclass(frozen=True)
class Node:
    """An `Element` with the markup a demonstrator reads beside it."""

    element: Element
    id: str
    classes: tuple[str, ...]
    group: int
    """Number of the row (message, e-mail, ...) that the node stands in, -1 outside of any."""


@dataclass(frozen=True)
class Screen:
    """What is seen at one moment: the instruction, the visible nodes, the picture as PNG bytes."""

    instruction: str
    nodes: tuple[Node, ...]
    screenshot: bytes

    @property
    def elements(self) -> tuple[Element, ...]:
        """The visible elements, in document order."""
        return tuple(node.element for node in self.nodes)


def find_chromium() -> tuple[str, str]:
    """Paths of Chromium and its driver, from the environment or the usual names.

    Raises
    ------
    BrowserError
        When either is missing, with the command that installs it. Nothing is downloaded.
    """
    chromium = os.environ.get("MINIWOB_CHROME_BINARY") or _which(
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
    )
    driver = os.environ.get("MINIWOB_CHROMEDRIVER") or _which(
        "chromedriver", "chromium.chromedriver"
    )
    missing = [
        name for name, path in (("Chromium", chromium), ("ChromeDriver", driver)) if path is None
    ]
    if chromium is None or driver is None:
        raise BrowserError(f"{' and '.join(missing)} not found; {INSTALL_HINT}")
    return chromium, driver


def _which(*names: str) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One Chromium with one MiniWoB++ page at a time; a context manager.

    Raises
    ------
    BrowserError
        When Chromium, its driver or the `miniwob` package is missing.
    """

    def __init__(self) -> None:
        try:
            import miniwob
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError as error:
            raise BrowserError(
                f"{error.name} is not installed: `pip install mnemoscope[miniwob]`"
            ) from None
        chromium, driver = find_chromium()
        self.pages = Path(miniwob.__file__).parent / "html" / "miniwob"
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in _CHROMIUM_FLAGS:
            options.add_argument(flag)
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium refuses to start as root otherwise
        self.driver = webdriver.Chrome(service=Service(executable_path=driver), options=options)
        self.task: str | None = None

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the browser."""
        self.driver.quit()

    def tasks(self) -> list[str]:
        """Names of the tasks that the installed package has."""
        return sorted(path.stem for path in self.pages.glob("*.html"))

    def reset(self, task: str, seed: int) -> None:
        """Starts an episode of `task`; the same seed gives the same page.

        Raises
        ------
        BrowserError
            When the package has no such task.
        """
        if task != self.task:
            page = self.pages / f"{task}.html"
            if not page.is_file():
                raise BrowserError(f"the miniwob package has no task {task!r}")
            self.driver.get(page.as_uri())
            self._run(
                "const s = document.createElement('style');"
                "s.textContent = '*{animation:none !important;transition:none !important;caret-color:transparent !important}"
                "#reward-display{display:none !important}';"
                "document.head.appendChild(s);"
                "if (window.jQuery) jQuery.fx.off = true;"
            )
            self.task = task
            self._mouse("mouseMoved", (0.0, -0.2))
        self._run(
            "core.EPISODE_MAX_TIME = 1e9; core.endEpisode(0); Math.seedrandom(arguments[0]);"
            "core.setDataMode('train'); core.startEpisodeReal();",
            str(seed),
        )
        for _ in range(200):
            if self._run("return window.WOB_TASK_READY !== false;"):
                return
        raise BrowserError(f"page of task {task!r} with seed {seed} did not become ready")

    def look(self) -> Screen:
        """The instruction, the visible elements and the picture."""
        instruction, nodes = self._run(_SNAPSHOT, WIDTH, TOP, TOP + HEIGHT)
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot",
            {
                "format": "png",
                "clip": {"x": 0, "y": TOP, "width": WIDTH, "height": HEIGHT, "scale": 1},
            },
        )
        return Screen(
            " ".join(instruction.split()),
            tuple(_node(node) for node in nodes),
            _palette_png(base64.b64decode(shot["data"])),
        )

    def perform(self, action: Action) -> None:
        """Does `action` on the page: clicks, typing into the focused field, keys, scrolls.

        Raises
        ------
        ValueError
            For kinds that a MiniWoB++ page has no counterpart of.
        """
        if action.kind in ("click", "long_press") and action.point is not None:
            self._mouse("mousePressed", action.point)
            self._mouse("mouseReleased", action.point)
            self._mouse("mouseMoved", (0.0, -0.2))  # away, so that nothing stays highlighted
        elif action.kind == "type":
            self.driver.execute_cdp_cmd("Input.insertText", {"text": action.text})
        elif action.kind == "press" and action.key in _KEYS:
            name, code = _KEYS[action.key]
            for kind in ("keyDown", "keyUp"):
                self.driver.execute_cdp_cmd(
                    "Input.dispatchKeyEvent",
                    {"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code},
                )
        elif action.kind == "scroll":
            dx, dy = {"up": (0, -60), "down": (0, 60), "left": (-60, 0), "right": (60, 0)}[
                action.direction or "down"
            ]
            self._mouse("mouseWheel", action.point or (0.5, 0.6), deltaX=dx, deltaY=dy)
        elif action.kind != "wait":
            raise ValueError(f"a MiniWoB++ page has no action {action.kind!r}")

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return bool(self._run("return WOB_DONE_GLOBAL;"))

    @property
    def reward(self) -> float:
        """The task's reward, in [-1, 1], without time decay; 0 while the episode goes on."""
        return float(self._run("return WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0;"))

    def _mouse(self, kind: str, point: Point, **extra: float) -> None:
        event: dict[str, Any] = {
            "type": kind,
            "x": point[0] * WIDTH,
            "y": TOP + point[1] * HEIGHT,
            **extra,
        }
        if kind != "mouseWheel":
            event |= {"button": "left", "clickCount": 1}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def _run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)


def _node(raw: dict[str, Any]) -> Node:
    left, top, right, bottom = raw["box"]
    box = (
        _fraction(left, WIDTH),
        _fraction(top - TOP, HEIGHT),
        _fraction(right, WIDTH),
        _fraction(bottom - TOP, HEIGHT),
    )
    element = Element(raw["role"], " ".join(raw["text"].split()), box, raw["appearance"])
    return Node(element, raw["id"], tuple(raw["classes"]), raw["group"])


def _fraction(pixels: float, size: int) -> float:
    return round(min(max(pixels / size, 0.0), 1.0), 4)


def _palette_png(png: bytes) -> bytes:
    """The picture with at most 64 colours, which halves its size and is not seen by the eye."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
