"""``python -m graphpri`` is ``graphpri``."""

import sys

from graphpri.cli import main

if __name__ == "__main__":
    sys.exit(main())
