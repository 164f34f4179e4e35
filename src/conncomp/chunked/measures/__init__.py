"""Functions of labels in chunks: rows of components, sizes and contacts, chunk by chunk."""
