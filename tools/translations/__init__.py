"""Message catalogues: what readers see, taken from the sources, and put back translated."""
