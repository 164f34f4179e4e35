"""Functions of labels in chunks: rows of components, sizes and contacts, chunk by chunk.

Calls come here by a name in text, where a search for references ends:

    components/statistics.py   `component_statistics` asks `function_for` (_lazy.py) for its name
    functions.py               has it, from statistics.py, contacts.py or overlaps.py, or its own
"""
