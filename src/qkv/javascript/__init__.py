"""The room in JavaScript: the trained model's forward pass, in a reader's browser.

Its files are named as the concepts of the two other rooms, and `translator.js` says how it is
called. It has no backward pass: it answers sentences on a page with no server behind it.
"""
