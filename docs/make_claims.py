"""Bring what the studies found into the pages: the claims ledger, and the pictures it shows.

graphpri reproduce --all --out reproduced        about an hour at the paper's sizes
python docs/make_claims.py reproduced            docs/data/claims.csv, docs/pictures/studies/*.png, docs/claims.md

A folder that has some of the studies changes their rows and pictures alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from fill_tables import DATA, DOCS, Row, fill_pages, read
from PIL import Image

from graphpri import studies
from graphpri.io import tables
from graphpri.studies.runner import row_of
from graphpri.studies.study import untested

TABLES = {
    "landscape/purposes.csv": "landscape_purposes.csv",
    "landscape/betas.csv": "landscape_betas.csv",
    "landscape/defaults.csv": "landscape_default.csv",
    "landscape/ranks.csv": "landscape_ranks.csv",
    "landscape/ties.csv": "landscape_ties.csv",
    "mtl-synthetic/changes.csv": "tasks_synthetic.csv",
    "mtl-parkinsons/unpruned.csv": "tasks_parkinsons.csv",
    "mtl-school/unpruned.csv": "tasks_school.csv",
    "brain-eoec/comparison.csv": "brain_eoec.csv",
    "brain-devfmri/comparison.csv": "brain_devfmri.csv",
    "brain-planted/areas.csv": "brain_planted.csv",
    "brain-planted/term.csv": "brain_term.csv",
    "node-classification/comparison.csv": "learning.csv",
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
    (DATA / "claims.csv").write_text(tables.as_csv(merged(read(DATA / "claims.csv"), folder)), encoding="utf-8")
    for source, target in TABLES.items():
        if (folder / source).exists():
            shutil.copyfile(folder / source, DATA / target)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for picture in sorted(folder.glob("*/*.png")):
        # A palette shows the same at a third of the size.
        Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            PICTURES / picture.name, optimize=True
        )
    print(f"{len(read(DATA / 'claims.csv'))} claims; changed: {', '.join(fill_pages()) or 'no page'}")


def merged(known: list[Row], folder: Path) -> list[dict[str, str]]:
    """Verdicts of the folder's studies, of all others as they were, and the claims that no study tests."""
    held: dict[str, list[Row]] = {}
    for row in known:
        held.setdefault(row["study"], []).append(row)
    held |= {path.parent.name: read(path) for path in folder.glob("*/verdicts.csv")}
    return [dict(row) for name in studies.names() for row in held.get(name, [])] + [
        row_of(verdict) for verdict in untested(held)
    ]


if __name__ == "__main__":
    main()
