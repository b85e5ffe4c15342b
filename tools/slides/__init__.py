"""Slides: one reveal.js deck a chapter, cut from its built page by the notebook's metadata."""
