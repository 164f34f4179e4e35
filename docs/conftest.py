"""Doctest runs the pages themselves, and neither the scripts that build them nor what is built."""

collect_ignore_glob = ["*.py", "*/generated/*", "gallery/*"]
