"""One thread for each process of the tests: as many processes as cores run side by side."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
