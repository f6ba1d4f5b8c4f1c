"""How soon pages of the explorer are seen, and how long a step of a slider takes, in headless Chromium.

python benchmarks/explorer_page.py page.html…

A step is from the change to pixels that can be read back, over all budgets at some β, at 1440 × 900 pixels. Beside
the clock's times stands the processors' time of the browser for a step, which other work hardly changes.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
STEPS = """([betas, budgets]) => {
  const times = [];
  for (let b = 0; b < betas; b += Math.max(1, Math.floor(betas / 5))) {
    for (let k = 0; k < budgets; k++) {
      const begin = performance.now();
      graphpri.go(b, k);
      graphpri.flush();
      times.push(performance.now() - begin);
    }
  }
  return times;
}"""


def processors() -> float:
    """Seconds that all processes below this one have used (Linux)."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
        used[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    below, found = {os.getpid()}, -1
    while len(below) != found:
        found = len(below)
        below |= {pid for pid, parent in parents.items() if parent in below}
    return sum(used[pid] for pid in below - {os.getpid()})


def measured(browser: Any, path: Path) -> dict[str, float]:
    """Seconds to the first picture, and milliseconds of steps."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(path.resolve().as_uri())
    page.wait_for_function("() => window.graphpri", timeout=120_000)
    first = page.evaluate("graphpri.state().firstPicture") / 1000
    stops = page.evaluate("['beta', 'keep'].map((id) => +document.getElementById(id).max + 1)")
    page.evaluate(STEPS, [1, 2])  # the first strokes are compiled
    before = processors()
    times = np.array(page.evaluate(STEPS, stops))
    used = (processors() - before) / times.size
    page.close()
    return {
        "first picture, s": first,
        "step, median, ms": float(np.median(times)),
        "95 %": float(np.quantile(times, 0.95)),
        "slowest": float(times.max()),
        "processors, a step, ms": 1000 * used,
    }


def main() -> None:
    """Measure the pages that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        for path in parser.parse_args().pages:
            told = ", ".join(f"{name}: {value:.3g}" for name, value in measured(browser, path).items())
            print(f"{path.name}: {told}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
