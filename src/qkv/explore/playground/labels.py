"""Words that a playground shows, by what they stand for; `labels=` replaces them."""

from __future__ import annotations

from qkv.language import gettext_noop

# What the model in JavaScript says of a sentence that it cannot take: qkv/javascript has the same.
REFUSALS = (
    gettext_noop("There is no word to translate."),
    gettext_noop("The model reads at most {most} words at once, and these are {count}."),
    gettext_noop("The model reads at most {most} pieces of words at once, and these are {count}."),
    gettext_noop("The page reads at most {most} words at once, and these are {count}."),
    gettext_noop("The page reads at most {most} pieces of words at once, and these are {count}."),
    gettext_noop("The model does not know {list}."),
    gettext_noop("This model reads {language}, and not {list}."),
    gettext_noop("{word} (near {near})"),
    gettext_noop("{word} (write two sentences)"),
    gettext_noop("{list} and {count} more"),
    gettext_noop("The model's numbers overflow: its parameters are too large to compute with."),
)
DEFAULT_LABELS = {
    # The sentence.
    "field": gettext_noop("An English sentence"),
    "own field": gettext_noop("A sentence, in the language that your model reads"),
    "suggestions": gettext_noop("Words that can stand here"),
    "translate": gettext_noop("Translate"),
    "examples": gettext_noop("Try"),
    "translation is": gettext_noop("Translation: {translation}"),
    "stop": gettext_noop("Stop"),
    "working": gettext_noop("Translating …"),
    "stopped": gettext_noop("Stopped after {count} tokens."),
    "stopped early": gettext_noop("Stopped before another answer."),
    "read": gettext_noop("Read {words}."),
    "read instead": gettext_noop("“{read}” for “{word}”"),
    "marks": gettext_noop("Text with more than 30 marks on one letter was left out."),
    "known": gettext_noop("One of the {count} sentences that the book has for this model."),
    "guess": gettext_noop(
        "None of the {count} sentences that the book has for this model: it may be wrong."
    ),
    "changed": gettext_noop(
        "The book has this sentence, but under these settings its translation is another: "
        "it may be wrong."
    ),
    "cut": gettext_noop("Cut: it had no end after {count} tokens."),
    "old answer": gettext_noop("The answer below is to “{sentence}”."),
    "instead": gettext_noop("Replace {word} with {near}"),
    "failed": gettext_noop("That did not work: {error}"),
    # The model.
    "page loads": gettext_noop(
        "The trained model comes into this page at your first touch: "
        "{megabytes} MB at most. Nothing that you type leaves the page."
    ),
    "kernel sends": gettext_noop("The kernel sends the trained model at your first touch."),
    "loading": gettext_noop("Loading the model …"),
    "loaded": gettext_noop("The model is here."),
    "load failed": gettext_noop("The model did not load ({error}). Press Translate to try again."),
    "no kernel": gettext_noop("the kernel does not answer"),
    # A model of the reader's own.
    "own model": gettext_noop("A model of your own"),
    "own model hint": gettext_noop(
        "All files of a folder that qkv train has written, or the one file that "
        "qkv export --safetensors makes of it. They stay on this device."
    ),
    "own files": gettext_noop("Files of the model"),
    "own files count": gettext_noop("{count} files"),
    "own model in use": gettext_noop("In use: {name}. {sizes}."),
    "own model refused": gettext_noop("{error} The model in use stays."),
    "model sizes": gettext_noop(
        "d_model {d_model}, {n_heads} heads, {layers} layers, vocabularies of "
        "{vocab_size} and {target_vocab_size}, {parameters} parameters"
    ),
    "book's model": gettext_noop("Back to the book's model"),
    "book's model in use": gettext_noop("In use: the book's model."),
    # What is switched off.
    "off": gettext_noop("Switched off: {what}."),
    "heads off": gettext_noop("{part} head {heads}"),
    "positions off": gettext_noop("positions of the {part}"),
    "switch all on": gettext_noop("Switch all on"),
    # Where no widget is drawn.
    "unrun": gettext_noop(
        "Playground, “{title}”: run this cell in Jupyter to use it. In the book it works at once."
    ),
    "noscript": gettext_noop("It translates in this page, and for that it needs JavaScript."),
}
