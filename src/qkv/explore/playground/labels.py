"""Words that a playground shows, by what they stand for; `labels=` replaces them."""

from __future__ import annotations

DEFAULT_LABELS = {
    # The sentence.
    "field": "An English sentence",
    "own field": "A sentence, in the language that your model reads",
    "suggestions": "Words that can stand here",
    "translate": "Translate",
    "examples": "Try",
    "translation is": "Translation: {translation}",
    "stop": "Stop",
    "working": "Translating …",
    "stopped": "Stopped after {count} tokens.",
    "stopped early": "Stopped before another answer.",
    "read": "Read {words}.",
    "read instead": "“{read}” for “{word}”",
    "marks": "Text with more than 30 marks on one letter was left out.",
    "known": "One of the {count} sentences that the book has for this model.",
    "guess": "None of the {count} sentences that the book has for this model: it may be wrong.",
    "changed": "The book has this sentence, but under these settings its translation is another: "
    "it may be wrong.",
    "cut": "Cut: it had no end after {count} tokens.",
    "old answer": "The answer below is to “{sentence}”.",
    "instead": "Replace {word} with {near}",
    "failed": "That did not work: {error}",
    # The model.
    "page loads": "The trained model comes into this page at your first touch: "
    "{megabytes} MB at most. Nothing that you type leaves the page.",
    "kernel sends": "The kernel sends the trained model at your first touch.",
    "loading": "Loading the model …",
    "loaded": "The model is here.",
    "load failed": "The model did not load ({error}). Press Translate to try again.",
    "no kernel": "the kernel does not answer",
    # A model of the reader's own.
    "own model": "A model of your own",
    "own model hint": "All files of a folder that qkv train has written, or the one file that "
    "qkv export --safetensors makes of it. They stay on this device.",
    "own files": "Files of the model",
    "own files count": "{count} files",
    "own model in use": "In use: {name}. {sizes}.",
    "own model refused": "{error} The model in use stays.",
    "model sizes": "d_model {d_model}, {n_heads} heads, {layers} layers, vocabularies of "
    "{vocab_size} and {target_vocab_size}, {parameters} parameters",
    "book's model": "Back to the book's model",
    "book's model in use": "In use: the book's model.",
    # What is switched off.
    "off": "Switched off: {what}.",
    "heads off": "{part} head {heads}",
    "positions off": "positions of the {part}",
    "switch all on": "Switch all on",
    # Where no widget is drawn.
    "unrun": "Playground, “{title}”: run this cell in Jupyter to use it. "
    "In the book it works at once.",
    "noscript": "It translates in this page, and for that it needs JavaScript.",
}
