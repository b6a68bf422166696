#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Displays performance counters of another machine, over its remote registry.

    remote_v1.py [--count N] [--interval SECONDS] [--user DOMAIN/USER]
                 [--objects "2 238"] [--program perfblock] [--cook OPTION]
                 [--smb-conf FILE] MACHINE

Fetches V1 blocks (HKEY_PERFORMANCE_DATA) and the English names from a Windows
machine or a Samba server, and passes them to `perfblock cook`. The password
is read from the environment variable PASSWD. Needs Samba's Python bindings
(python3-samba) and the winreg service of the machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from samba import credentials, param
from samba.dcerpc import winreg

MAX_BYTES = 64 << 20
ERROR_MORE_DATA = 234


def connect(options):
    """Returns the winreg service of the machine and a handle of its
    HKEY_PERFORMANCE_DATA."""
    settings = param.LoadParm()
    if options.smb_conf:
        settings.load(options.smb_conf)
    else:
        settings.load_default()
    login = credentials.Credentials()
    login.guess(settings)
    if options.user:
        login.parse_string(options.user)
    if "PASSWD" in os.environ:
        login.set_password(os.environ["PASSWD"])
    service = winreg.winreg("ncacn_np:%s[\\pipe\\winreg,sign]" %
                            options.machine, settings, login)
    access = winreg.KEY_QUERY_VALUE | winreg.KEY_ENUMERATE_SUB_KEYS
    return service, service.OpenHKPD(None, access)


def fetch(service, key, value):
    """Returns the bytes of a value. Tries larger buffers until it fits."""
    name = winreg.String()
    name.name = value
    size = 1 << 16
    while size <= MAX_BYTES:
        try:
            _, data, _, length = service.QueryValue(key, name, 0, [0] * size,
                                                    size, size)
            return bytes(data[:length])
        except RuntimeError as error:
            if error.args[0] != ERROR_MORE_DATA:
                raise
        size *= 4
    raise RuntimeError("the value %s is too large" % value)


def main():
    """Reads the command line, then pipes the replies into perfblock."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("machine", metavar="MACHINE")
    parser.add_argument("--user", help="as DOMAIN/USER or USER")
    parser.add_argument("--objects", default="Global",
                        help="title indexes, as in '2 238'; default: Global")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--interval", type=float, default=1)
    parser.add_argument("--program", default="perfblock")
    parser.add_argument("--cook", action="append", default=[],
                        metavar="OPTION", help="an option of perfblock cook")
    parser.add_argument("--smb-conf", metavar="FILE",
                        help="settings of Samba; default: the system's")
    options = parser.parse_args()
    service, key = connect(options)
    with tempfile.NamedTemporaryFile() as names:
        names.write(fetch(service, key, "Counter 009"))
        names.flush()
        with subprocess.Popen(
                [options.program, "cook", *options.cook, "--names",
                 names.name, "-"], stdin=subprocess.PIPE) as cook:
            for number in range(options.count):
                if number > 0:
                    time.sleep(options.interval)
                cook.stdin.write(fetch(service, key, options.objects))
            cook.stdin.close()
        return cook.returncode


if __name__ == "__main__":
    sys.exit(main())
