"""Make an incremental build write the very book that a build of all pages would.

Sphinx reads the pages again whose files are newer than their last reading, and writes those alone.
Four things escape it: a file that was put back with an older date; what a page shows of another,
such as its title in the sidebar or the heading that a link leads to; in the search index, the
glossary's terms of pages that are not written, and words that no page has any more; and a figure
that no page has any more.
"""

import hashlib
import json
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from glossary_terms import glossary_terms
from sphinx.application import ENV_PICKLE_FILENAME, Sphinx
from sphinx.environment import BuildEnvironment

# What pages may show of each other: attributes of the environment, data of its domains.
SHARED = ("titles", "longtitles", "tocs", "toc_secnumbers", "toc_fignumbers", "toctree_includes")
DOMAINS = {"std": ("labels", "anonlabels", "objects", "terms"), "math": ("objects",)}
INDEX_HEAD, INDEX_TAIL = "Search.setIndex(", ")"
CONTENTS, SEEN = "qkv_contents", "qkv_shared"  # kept in the environment, from build to build


def digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


def in_order(value: Any) -> Any:
    """The same content always in the same form, whichever page was read first."""
    if isinstance(value, dict):
        return sorted(((repr(key), in_order(inner)) for key, inner in value.items()))
    if isinstance(value, nodes.Node):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        items = [in_order(item) for item in value]
        return items if isinstance(value, list | tuple) else sorted(items)
    return repr(value)


def content(env: BuildEnvironment, page: str) -> str:
    """A fingerprint of a page's file and of the files that it depends on."""
    files = [env.doc2path(page), *sorted(env.dependencies.get(page, ()))]
    paths = [Path(env.srcdir, file) for file in files]
    return digest(
        [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.exists()]
    )


def changed_pages(_: Sphinx, env: BuildEnvironment, *__: set[str]) -> list[str]:
    """The pages whose content is another than when they were read, whatever its date."""
    before = getattr(env, CONTENTS, {})
    changed = [page for page in env.found_docs if before.get(page) != content(env, page)]
    return changed or [env.config.root_doc]  # Sphinx copies no static file unless it writes a page


def what_pages_share(env: BuildEnvironment) -> list[Any]:
    parts = [in_order(getattr(env, name)) for name in SHARED]
    for name, keys in DOMAINS.items():
        parts += [in_order(env.get_domain(name).data[key]) for key in keys]
    cited = env.get_domain("cite").data["citations"]
    parts.append(in_order(glossary_terms(env)))
    return [*parts, [(c.key, c.citation_id, c.formatted_entry.label) for c in cited]]


def pages_to_write(_: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Every page, if something has changed that one page may show of another."""
    setattr(env, CONTENTS, {page: content(env, page) for page in env.found_docs})
    shared = digest(what_pages_share(env))
    is_new = getattr(env, SEEN, None) != shared
    setattr(env, SEEN, shared)
    return env.found_docs if is_new else ()


def delete_old_figures(app: Sphinx, error: Exception | None) -> None:
    """Delete the pictures that were a page's before it was edited."""
    if error or app.builder.format != "html":
        return
    used = {name for _, name in app.env.images.values()}
    for picture in Path(app.outdir, app.builder.imagedir).glob("*"):
        if picture.name not in used:
            picture.unlink()


def mend_search_index(app: Sphinx, error: Exception | None) -> None:
    """Keep for the next build what the index learnt as pages were written; drop words of no page.

    Sphinx stores the environment, where the index keeps the glossary's terms, before it writes.
    """
    if error or app.builder.format != "html":
        return
    with Path(app.doctreedir, ENV_PICKLE_FILENAME).open("wb") as file:
        pickle.dump(app.env, file, pickle.HIGHEST_PROTOCOL)
    path = Path(app.outdir, "searchindex.js")
    text = path.read_text(encoding="utf-8")
    index = json.loads(text.removeprefix(INDEX_HEAD).removesuffix(INDEX_TAIL))
    for kind in ("terms", "titleterms"):
        index[kind] = {word: pages for word, pages in index[kind].items() if pages != []}
    data = json.dumps(index, separators=(",", ":"), sort_keys=True)
    path.write_text(INDEX_HEAD + data + INDEX_TAIL, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-get-outdated", changed_pages)
    # After the extensions that add to the environment in the same event.
    app.connect("env-get-updated", pages_to_write, priority=900)
    app.connect("build-finished", delete_old_figures, priority=100)
    app.connect("build-finished", mend_search_index, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
