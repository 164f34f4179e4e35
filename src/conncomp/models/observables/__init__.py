"""What updates can measure besides, by name: each is a file that says what, how, and its source."""
