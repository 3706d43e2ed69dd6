"""`python -m litrag`."""

import sys

from litrag.cli import main

sys.exit(main())
