"""Measuring: inputs in suites, other libraries, and a runner that checks before it times."""
