"""So that `torchrun -m qkv.commands.train` finds it."""

import sys

from qkv.commands.train.command import main

if __name__ == "__main__":
    sys.exit(main())
