"""What the paper says in words, from ``claims.toml``."""

from reproductions.claims import Words

words = Words(__file__)
claim = words.claim
