"""The package behind *The Runnable Transformer*: one concept, one name, in every room."""
