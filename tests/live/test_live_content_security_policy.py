"""The Content-Security-Policy of a page: its exact words, and what of the page it lets run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from qkv.live.content_security_policy import (
    NO_INLINE,
    OWN_SCRIPTS,
    InlineHashes,
    build_policy,
    hash_source,
    inline_hashes,
    inline_hashes_of_file,
    own_inline_hashes,
    web_sockets,
)

# The example of the specification, and the hash that it gives.
HELLO = "alert('Hello, world.');"
HELLO_HASH = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"


def test_the_policy_to_the_letter() -> None:
    hashes = InlineHashes(scripts=("'sha256-A'",), handlers=("'sha256-B'",))
    assert build_policy(hashes, ["127.0.0.1:8000"]) == (
        "default-src 'none'; "
        "script-src 'self' blob: 'sha256-A' 'unsafe-hashes' 'sha256-B'; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; "
        "media-src 'self' data: blob:; "
        "font-src 'self' data:; "
        "connect-src 'self' ws://127.0.0.1:8000 wss://127.0.0.1:8000; "
        "frame-ancestors 'self'; "
        "form-action 'self'; "
        "base-uri 'none'; "
        "object-src 'none'"
    )


def test_a_page_that_runs_nothing_of_its_own_may_not() -> None:
    assert "script-src 'self' blob:;" in build_policy()
    assert "connect-src 'self';" in build_policy()


def test_a_script_is_known_by_its_hash() -> None:
    assert hash_source(HELLO) == HELLO_HASH
    assert inline_hashes(f"<script>{HELLO}</script>") == InlineHashes(scripts=(HELLO_HASH,))


@pytest.mark.parametrize(
    "tag",
    [
        "<script>",
        "<SCRIPT>",
        '<script type="">',
        "<script type='module'>",
        '<script type=" Text/JavaScript ">',
        '<script defer data-cfasync="false">',
    ],
)
def test_what_runs_is_found(tag: str) -> None:
    assert inline_hashes(f"<p>{tag}{HELLO}</script>").scripts == (HELLO_HASH,)


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="a.js">',
        "<script src>",
        '<script type="application/json">',
        '<script type="application/vnd.jupyter.widget-state+json">',
        '<script type="text/x-thebe-config">',
        "<style>",
        "<p>",
    ],
)
def test_what_does_not_run_is_left_out(tag: str) -> None:
    name = tag[1:].split()[0].strip(">")
    assert inline_hashes(f"{tag}{HELLO}</{name}>") == InlineHashes()


def test_a_script_in_a_comment_or_in_text_is_none() -> None:
    assert (
        inline_hashes(f"<!-- <script>{HELLO}</script> -->&lt;script&gt;{HELLO}") == InlineHashes()
    )


def test_the_text_is_taken_as_it_is() -> None:
    text = "\n if (a < b && c) { x = '</p>&amp;'; }\n"
    assert inline_hashes(f"<script>{text}</script>").scripts == (hash_source(text),)
    assert inline_hashes("<script></script>").scripts == (hash_source(""),)


def test_an_attribute_runs_as_its_entities_are_read() -> None:
    page = "<b onclick=\"go(&quot;a&quot;, 1 &amp; 2)\" class='x'><i ONLOAD='go()' once onx>"
    handlers = inline_hashes(page).handlers
    assert set(handlers) == {hash_source('go("a", 1 & 2)'), hash_source("go()")}


def test_each_is_named_once_in_an_order_of_its_own() -> None:
    pages = ("ab", "ba", "aabb")
    assert (
        len({inline_hashes("".join(f"<script>{x}</script>" for x in page)) for page in pages}) == 1
    )


def test_a_changed_page_is_read_again(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_bytes(b"<script>a()\r\nb()</script>")
    # Browsers read line ends as "\n", and hash what they read.
    assert inline_hashes_of_file(page, page.stat().st_mtime_ns).scripts == (
        hash_source("a()\nb()"),
    )
    page.write_text("<script>c()</script>")
    os.utime(page, ns=(1, 1))
    assert inline_hashes_of_file(page, page.stat().st_mtime_ns).scripts == (hash_source("c()"),)


def test_of_a_page_only_the_books_own_scripts_may_run(tmp_path: Path) -> None:
    page = inline_hashes(
        f"<script>{HELLO}</script><script>own()</script><b onclick='own()' ondrop='x'>"
    )
    assert page.among(NO_INLINE) == NO_INLINE
    own = (hash_source("own()"),)
    # A script is no handler: each is known for what it is.
    assert page.among(InlineHashes(scripts=own)) == InlineHashes(scripts=own)
    file = tmp_path / OWN_SCRIPTS
    assert own_inline_hashes(tmp_path) == NO_INLINE, "a book that was built before"
    file.parent.mkdir()
    file.write_text(json.dumps({"scripts": own, "handlers": own}))
    assert page.among(own_inline_hashes(tmp_path)) == InlineHashes(own, own)
    for broken in ("", "[]", "{}", '{"scripts": 1, "handlers": []}'):
        file.write_text(broken)
        assert own_inline_hashes(tmp_path) == NO_INLINE


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "hub.example.org:443", "a-b.c"])
def test_a_host_gets_its_web_sockets(host: str) -> None:
    assert web_sockets(host) == (f"ws://{host}", f"wss://{host}")


@pytest.mark.parametrize(
    "host", ["", "*", "a b", "a; script-src *", "a'", "[::1]:8000", "a/b", "a:x", "-a", "a:8000:1"]
)
def test_a_host_that_is_none_adds_nothing(host: str) -> None:
    """The Host header is whatever a client writes."""
    assert web_sockets(host) == ()
    assert build_policy(hosts=[host]) == build_policy()


def test_nothing_lets_foreign_scripts_run() -> None:
    policy = build_policy(InlineHashes(("'sha256-A'",), ("'sha256-B'",)), ["127.0.0.1:8000"])
    directives = dict(each.split(" ", 1) for each in policy.split("; "))
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "http:", "https:"} & set(
        directives["script-src"].split()
    )
    for name, sources in directives.items():
        named = [x for x in sources.split() if "." in x]
        assert all("127.0.0.1:8000" in x for x in named), name
