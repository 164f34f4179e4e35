"""The inputs of graphs: files, graphs of other libraries, arcs and rows."""
