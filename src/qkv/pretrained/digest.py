"""Which model ships. Written by `python tools/train_pretrained.py`, never by hand."""

DIGEST = "69b912ca7deb6f2f2d263f38322e42af4c60461b34e4858b30b14e8de9d7cc94"
