"""What graphs come as: files, graphs of other libraries, arcs and rows."""
