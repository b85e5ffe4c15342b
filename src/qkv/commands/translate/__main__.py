"""python -m qkv.commands.translate"""

import sys

from qkv.commands.translate import main

if __name__ == "__main__":
    sys.exit(main())
