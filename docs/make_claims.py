"""Bring what the studies found into the pages: the claims ledger, and the pictures it shows.

graphpri reproduce --all --out reproduced        about an hour at the paper's sizes
python docs/make_claims.py reproduced            docs/data/claims.csv, docs/pictures/studies/*.png, docs/claims.md
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
from pathlib import Path

from fill_tables import DATA, DOCS, fill_pages
from PIL import Image

TABLES = {
    "landscape/purposes.csv": "landscape_purposes.csv",
    "landscape/betas.csv": "landscape_betas.csv",
    "mtl-synthetic/changes.csv": "tasks_synthetic.csv",
    "mtl-parkinsons/unpruned.csv": "tasks_parkinsons.csv",
    "mtl-school/unpruned.csv": "tasks_school.csv",
}
PICTURES = DOCS / "pictures" / "studies"


def main() -> None:
    """Copy verdicts and pictures of a run at the paper's sizes, and fill the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="what graphpri reproduce --all wrote")
    folder: Path = parser.parse_args().folder
    for run in sorted(folder.glob("*/run.json")):
        if json.loads(run.read_text(encoding="utf-8"))["quick"]:
            parser.error(f"{run.parent}: a quick run; the ledger has the paper's sizes")
    shutil.copyfile(folder / "verdicts.csv", DATA / "claims.csv")
    for source, target in TABLES.items():
        if (folder / source).exists():
            shutil.copyfile(folder / source, DATA / target)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for picture in sorted(folder.glob("*/*.png")):
        # A palette shows the same at a third of the size.
        Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            PICTURES / picture.name, optimize=True
        )
    with (DATA / "claims.csv").open(encoding="utf-8", newline="") as lines:
        print(f"{len(list(csv.DictReader(lines)))} claims; changed: {', '.join(fill_pages()) or 'no page'}")


if __name__ == "__main__":
    main()
