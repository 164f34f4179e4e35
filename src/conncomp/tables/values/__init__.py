"""How ids that are Python objects, text or bytes are held in arrays."""
