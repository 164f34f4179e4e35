"""Files that are written whole or not at all, and arrays in them; `conncomp.io` is made of it."""
