# SPDX-License-Identifier: MIT
"""Running the program to its end.

Under Wine about one start in a thousand fails before the program begins: an
error status, and not a byte on standard output or standard error.  The program
itself never ends so, as it tells every error; then it is started again, twice
at most, so that a program that really did it is still found.
"""

import os
import subprocess

ON_WINDOWS = os.environ.get("PERFBLOCK_SYSTEM") == "Windows"
STARTS = 3 if ON_WINDOWS else 1


def finish(line, **options):
    """subprocess.run; streams that `options` do not name are kept."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    for _ in range(STARTS):
        done = subprocess.run(line, check=False, **options)
        if done.returncode == 0 or done.stdout or done.stderr:
            break
    return done
