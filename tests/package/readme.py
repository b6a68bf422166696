# SPDX-License-Identifier: MIT
"""The examples of a Markdown page, for the tests that run them."""

import re

FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
CORPUS_FILE = re.compile(r"`(corpus/[^`]+)`")
HEREDOC = re.compile(r" <<(\w+)$")


def read_example(page):
    """The first ```c block that is a program without collect.h, the corpus file named between it and the next block (or None), and
    that next block, the expected output."""
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCED.finditer(text))
    for index, block in enumerate(blocks):
        if block[1] == "c" and "int main(" in block[2] and "collect.h" not in block[2]:
            if index + 1 == len(blocks):
                raise SystemExit(f"{page}: no block with the output after the example")
            output = blocks[index + 1]
            between = CORPUS_FILE.search(text, block.end(), output.start())
            return block[2], between[1] if between else None, output[2]
    raise SystemExit(f"{page}: no ```c block")


def read_sessions(page):
    """The blocks that begin with "$ ", each as a list of (command, its standard input, expected output)."""
    text = page.read_text(encoding="utf-8")
    return [read_session(block[2]) for block in FENCED.finditer(text) if block[2].startswith("$ ")]


def read_session(block):
    """A block of commands."""
    steps = []
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        standard_input = ""
        heredoc = HEREDOC.search(command)
        if heredoc:
            command = command[:heredoc.start()]
            standard_input, _, output = output.partition(f"{heredoc[1]}\n")
        steps.append((command, standard_input, output))
    return steps
