"""Tables of pairs in main memory."""
