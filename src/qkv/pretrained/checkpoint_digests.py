"""Digests of the models that ship. Written by `python tools/train_pretrained.py`, never by hand."""

# By step of the one training run; the last is the model itself.
DIGESTS = {
    1: "bc8888315b352a4038b26edc6bee77fecc59ca2f71dcbc4d2f48e611b4443b63",
    100: "5ab2645bdb45df282a6b7c2059d6c3ba8c54b8ce37c57d37ebfa2ff4394099c7",
    300: "caea65dfd69eb5bacae4eeed8cfa23c40bd1df7f67aa1f9fc68cbe0d4ab5e054",
    600: "c6e3e7f8f6597b1de940790932776393957ab41b9a48c25658dc7bdd671eb257",
    1000: "a820d4d1bd61499188e926a98db228e51487c8631e861083b4fe0d6f61a09279",
    3000: "beb1419c436d4c8d55b3b5ed67d09129b64c2e1b7a946dbcc29aab9819c098e2",
}
