# SPDX-License-Identifier: MIT
"""examples/remote_v1.py, with a Samba server on this machine."""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

from program import SECONDS, Case, program

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "examples", "remote_v1.py")
RATE, LARGE, TIMER = 0x10410500, 0x00010100, 0x20510500  # counter types
# Samba's options for its folders, and their names in the temporary folder.
FOLDERS = {"private dir": "private", "lock directory": "lock",
           "state directory": "state", "cache directory": "cache",
           "pid directory": "pid", "ncalrpc dir": "rpc"}
# Reads {file: {key: text}} and writes the databases. Values are Latin-1.
WRITE_TDB = """
import json, os, sys, tdb
for path, items in json.load(sys.stdin).items():
    db = tdb.Tdb(path, 0, 0, os.O_RDWR | os.O_CREAT)
    for key, value in items.items():
        db[key.encode()] = value.encode("latin-1")
    db.close()
"""
# Samba's database of names: "N" is the name of title index N, "Nrel" its kind
# ("p": object, "c[M]": counter of object M), "Ntype" a counter type, "Ninst"
# the number of instances and "NiKname" the name of instance K. "1" is the
# number of names.
NAMES = {
    "1": "6", "2": "Memory", "2rel": "p", "4": "Available Bytes",
    "4rel": "c[2]", "4type": str(LARGE), "6": "Page Faults/sec",
    "6rel": "c[2]", "6type": str(RATE), "8": "Pages/sec", "8rel": "c[2]",
    "8type": str(RATE), "10": "Processor", "10rel": "p", "10inst": "2",
    "10i0name": "0", "10i1name": "_Total", "12": "% Processor Time",
    "12rel": "c[10]", "12type": str(TIMER)}


def interpreter():
    """The path of a Python with Samba's bindings, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import samba.dcerpc.winreg, tdb"],
                stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return None


def reason_to_skip():
    """Why the server cannot be started here, or None."""
    if os.name != "posix" or os.geteuid() != 0:
        return "a Samba server needs root"
    for name in ("smbd", "pdbedit"):
        if not shutil.which(name):
            return "%s is not installed" % name
    if not interpreter():
        return "no Python has Samba's bindings and tdb"
    return None


def counters(moment):
    """The contents of Samba's database of values at second `moment`."""
    def number(value):
        return struct.pack("<Q", value).decode("latin-1")
    return {"4": str(4000 + moment), "6": str(6000 + 5 * moment),
            "8": str(8000 + 7 * moment), "12": "0",
            "10i0": number(10**9 + 2500000 * moment),
            "10i1": number(10**9 + 5000000 * moment)}


def clocks(moment):
    """The clocks at second `moment`. They are written to both databases: the
    server reads the frequency from that of names and the times from that of
    values."""
    return {"0PerfFreq": "10000000",
            "0PerfTime": str(10**9 + 10**7 * moment),
            "0PerfTime100nSec": str(133 * 10**15 + 10**7 * moment)}


@unittest.skipIf(reason_to_skip(), reason_to_skip())
class Remote(Case):
    """The example reads blocks and names over the remote registry protocol."""

    def setUp(self):
        super().setUp()
        self.python = interpreter()
        self.settings = self.file("smb.conf", b"")
        self.root = os.path.dirname(self.settings)
        for name in (*FOLDERS.values(), os.path.join("state", "perfmon")):
            os.mkdir(os.path.join(self.root, name), 0o700)
        os.chmod(os.path.join(self.root, "rpc"), 0o755)
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self.port = chosen.getsockname()[1]
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write("[global]\nserver role = standalone server\n"
                       "netbios name = PERFTEST\ninterfaces = lo\n"
                       "bind interfaces only = yes\ndisable netbios = yes\n"
                       "load printers = no\ndisable spoolss = yes\n"
                       "smb ports = %d\nlog file = %s/log.%%m\n" % (
                           self.port, self.root))
            for option, name in FOLDERS.items():
                file.write("%s = %s/%s\n" % (option, self.root, name))
        self.write_databases(0)
        subprocess.run(["pdbedit", "-s", self.settings, "-a", "-u", "root",
                        "-t"], input=b"secret\nsecret\n", check=True,
                       capture_output=True, timeout=SECONDS)
        self.start()

    def write_databases(self, moment):
        """Makes the server return the values of second `moment`."""
        folder = os.path.join(self.root, "state", "perfmon")
        subprocess.run(
            [self.python, "-c", WRITE_TDB], check=True, timeout=SECONDS,
            input=json.dumps({
                os.path.join(folder, "names.tdb"): NAMES | clocks(moment),
                os.path.join(folder, "data.tdb"): counters(moment) | clocks(
                    moment)}).encode())

    def start(self):
        """Starts the server and waits until it listens."""
        server = subprocess.Popen(
            ["smbd", "--foreground", "--no-process-group", "-s",
             self.settings, "-l", self.root],
            start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop, server)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)
        self.fail("smbd does not listen")

    def stop(self, server):
        """Stops the server and the process that it started for winreg."""
        server.terminate()
        server.wait(SECONDS)
        helper = os.path.join(self.root, "pid", "samba-dcerpcd.pid")
        if os.path.exists(helper):
            with open(helper, encoding="ascii") as file:
                os.kill(int(file.read()), signal.SIGTERM)

    def run_example(self, *arguments, cook):
        """The output of the example, which passes what it reads to the program
        `cook` with the arguments of perfblock cook."""
        done = subprocess.run(
            [self.python, EXAMPLE, "--smb-conf", self.settings, "--user",
             "root", "--program", cook, *arguments, "127.0.0.1"],
            env=dict(os.environ, PASSWD="secret"), capture_output=True,
            timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_values(self):
        """Two blocks of the server give the values that were stored in its
        databases."""
        # A script instead of perfblock, which stores the name table and the
        # blocks that the example passes to it.
        storing = self.file("store.sh", (
            "#!/bin/sh\ncp \"$3\" %s/names.bin\ncat >>%s/blocks.bin\n" % (
                self.root, self.root)).encode())
        os.chmod(storing, 0o700)
        for moment in (0, 1):
            self.write_databases(moment)
            self.run_example("--count", "1", cook=storing)
        items = self.run_json("cook", "--names",
                              os.path.join(self.root, "names.bin"),
                              os.path.join(self.root, "blocks.bin"))
        self.assertEqual(
            {(i["set"], i["instance"], i["counter"]): i["value"]
             for i in items if i["sample"] == 1},
            {("Memory", None, "Available Bytes"): 4001,
             ("Memory", None, "Page Faults/sec"): 5,
             ("Memory", None, "Pages/sec"): 7,
             ("Processor", "0", "% Processor Time"): 25,
             ("Processor", "_Total", "% Processor Time"): 50})

    def test_pipe(self):
        """The example passes names to cook in a file and blocks through a pipe.
        """
        printed = self.run_example(
            "--interval", "0", "--objects", "Global", "--cook=--format",
            "--cook=json", cook=program())
        items = [json.loads(line) for line in printed.splitlines()]
        self.assertEqual({i["sample"] for i in items}, {0, 1})
        self.assertEqual({i["set"] for i in items}, {"Memory", "Processor"})


if __name__ == "__main__":
    if reason_to_skip():
        print("skipped: %s" % reason_to_skip())  # recognised by CTest
    unittest.main()
