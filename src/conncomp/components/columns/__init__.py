"""The columns of tables of components: what is measured for them, and what follows from that."""
