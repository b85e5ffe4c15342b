"""What every explorer is made of: panels, the grid of their values, the widget that draws them.

`explorer.py` is the way in. A concept's own functions stand one folder up: `explore/masks.py`.
"""
