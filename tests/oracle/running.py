# SPDX-License-Identifier: MIT
"""Runs the program perfblock to its end.

Under Wine about one start in a thousand fails before the program runs, with an
error status and without any output. The program itself reports every error, so
a run like that is repeated, at most twice. If all of them fail like that, the
last one is returned, and the test fails.
"""

import os
import subprocess

ON_WINDOWS = os.environ.get("PERFBLOCK_SYSTEM") == "Windows"
STARTS = 3 if ON_WINDOWS else 1


def finish(line, **options):
    """subprocess.run(). Standard output and standard error are captured unless
    `options` redirect them."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    for _ in range(STARTS):
        done = subprocess.run(line, check=False, **options)
        if done.returncode == 0 or done.stdout or done.stderr:
            break
    return done
