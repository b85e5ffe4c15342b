"""Digests of the models that ship. Written by `python tools/train_pretrained.py`, never by hand."""

# By step of the one training run; the last is the model itself.
DIGESTS = {
    1: "347f975204ff9cd83f5aef2349258236e0bc1b4b415c07a4138481550881ee8e",
    100: "a4e973f70cf8dd0433ea61c4f0ea16526872fdb5c624993eb6213a78b4f09a15",
    300: "e675ae7bc7b5afcee2c945dfbc7fe58568b389dc8998b2a08b8bb8b10dab0b12",
    600: "fd66921e939771cb082fa6704de138f060739f05c78fc33ac2eb5f8246772166",
    1000: "89e18c0d6a38ce9317c4789f9e35817d2bd83856a2f0cd9988be9aa19f3b96d9",
    3000: "83a0bbac0ffb0663299357f05906d7ed489816929d2d208d8f8e5eda62ba5f2c",
}
