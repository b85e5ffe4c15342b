"""The room in JavaScript: the trained model's forward pass, in a reader's browser.

Its files are named as the concepts of the two other rooms, and `translator.js` says how it is
called. It has no backward pass: it answers sentences on a page with no server behind it.

Python stands here where it writes what JavaScript reads, so that a format has both of its sides in
one folder: `model_file.py` for `model_file.js`, and `sentence_automaton.py` for
`sentence_automaton.js`. `scripts.py` and `bundle.py` write the scripts of a page.
"""
