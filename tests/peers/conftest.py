# Not tests: they are loaded into the suites that test_peers.py runs.
collect_ignore = ["adapters"]


def pytest_terminal_summary(terminalreporter):
    """Print how many of each peer's tests were run, and what became of them."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            counts = dict(report.user_properties).get("peer")
            if counts:
                terminalreporter.write_line(counts)
