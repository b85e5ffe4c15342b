"""Which model ships. Written by `python -m qkv.commands.pretrain`, never by hand."""

DIGEST = "aaca3ef09447124d38f0daf1ae916f13e25ac1ab60125685281ed2c72a596af0"
