"""Runs a program with a PostgreSQL server of its own: with_server.py PROGRAM [ARGS ...]

The URL of an empty database is in COCABO_TEST_POSTGRES. The exit status is the program's, or
77 where there is no PostgreSQL.
"""

import os
import subprocess
import sys

from server import Server, missing


def main():
    why = missing()
    if why:
        print(why)
        return 77
    with Server() as server:
        url = server.create_database("studies", owner=server.create_role("worker"))
        return subprocess.run(sys.argv[1:], check=False,
                              env=os.environ | {"COCABO_TEST_POSTGRES": url}).returncode


if __name__ == "__main__":
    sys.exit(main())
