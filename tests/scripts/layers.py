"""Compares the #include lines of src/ with the table of rooms in
docs/architecture.md. Prints what is wrong, a line each.

A room uses rooms to its left only. A private header (_int.h) is for its own
folder; one that shows LLVM (_llvm.h) is for the rooms that own LLVM. A library
such as Z3 belongs to one room.
"""
import os
import re
import sys

# What each room may use, beside itself and base. The most telling prefix of a
# path names its room.
ROOMS = {
    "base": "",
    "runtime": "",
    "capture": "",
    "ast": "capture",
    "program": "capture",
    "analysis/handles": "capture program",
    "analysis/pointsto": "capture program",
    "analysis/symbolic": "capture program analysis/pointsto",
    "analysis/mutability": "capture program analysis/pointsto",
    "analysis/units": "capture program",
    "analysis/effects": "capture program analysis/pointsto",
    "weave": "capture program analysis runtime",
    "build": "capture program analysis weave run runtime",
    "run": "runtime",
    "solve": "",
    "dataflow": "solve",
    "engine/record": "capture program analysis weave build run runtime",
    # Call sequences, from left to right: a library as its callers see it; the
    # sequence as data (with the values and the owners of handles); what example
    # runs show; executing; growing for a judge; tests made of what is kept.
    "engine/api": "capture program analysis runtime",
    "engine/sequence": "program engine/api",
    "engine/usage": "capture program analysis weave run engine/record engine/api engine/sequence runtime",
    "engine/play": "program run engine/api engine/sequence runtime",
    "engine/generate": "program engine/api engine/sequence engine/usage engine/play",
    "engine/suite": "program analysis weave build run engine/api engine/sequence "
                    "engine/usage engine/play engine/generate runtime",
    "engine/schedule": "program build run runtime",
    "engine/protocol": "run runtime",
    "engine/contract": "program analysis solve engine/record runtime",
    "engine/concolic": "solve runtime",
    "php": "",
    # PHP applications; the log is what the extension in php/ writes.
    "web": "run php",
    # The search knows no C program: front ends do.
    "engine/explore": "run solve engine/concolic runtime",
    "engine/explore/program": "program analysis weave build run solve engine/concolic "
                              "engine/explore runtime",
    # Loops of events: a front end of the search.
    "engine/events": "program weave build run solve engine/concolic engine/explore runtime",
    "finding": "",
    # What a project has, and plans made from it.
    "project": "capture program finding",
    # run: a failed run becomes a finding there (failure_finding.h).
    "session": "capture ast program analysis run engine/api finding project",
    "technique": "capture ast program analysis weave build run solve dataflow engine web finding "
                 "project session runtime",
    "command": "capture ast program analysis weave build run solve engine web finding project session",
    "cli": "session technique command",
}
LIBRARIES = {
    r"llvm-c/": {"program", "analysis", "weave", "build"},
    r"clang-c/": {"ast"},
    r"z3": {"solve"},
    r"sqlite3": {"finding"},
    r"ffi": {"engine/play"},
    r"tidy|gumbo": {"web"},
    r"seccomp": {"run"},
}


def room_of(path):
    """The room of a path below src/, or None."""
    parts = path.split("/")
    for n in (3, 2, 1):
        name = "/".join(parts[:n])
        if name in ROOMS:
            return name
    return None


def may(room, other):
    return other in ("base", room) or any(
        other == a or other.startswith(a + "/") for a in ROOMS[room].split())


def wrong_with_own(path, room, name):
    """What is wrong with including our own header `name`; None: nothing."""
    other = room_of(name)
    same_folder = os.path.dirname(name) == os.path.dirname(path)
    if other is None:
        return "no such room"
    if other == room == "technique" and name.split("/")[1] != path.split("/")[1]:
        return "a technique uses another"
    if not may(room, other):
        return f"{room} may not use {other}"
    if name.endswith("_int.h") and not same_folder and other != "runtime":
        if not os.path.dirname(path).startswith(os.path.dirname(name) + "/"):
            return "a private header"
    if name.endswith("_llvm.h") and room.split("/")[0] not in LIBRARIES["llvm-c/"]:
        return "a header for rooms that own LLVM"
    return None


def main():
    wrong = []
    for folder, _, files in os.walk("src"):
        for f in sorted(files):
            if not f.endswith((".c", ".h")):
                continue
            path = os.path.relpath(os.path.join(folder, f), "src")
            room = room_of(path)
            if room is None:
                wrong.append(f"src/{path}: in no room")
                continue
            for n, line in enumerate(open(os.path.join("src", path)), 1):
                m = re.match(r'\s*#\s*include\s+(["<])([^">]+)', line)
                if not m:
                    continue
                name = m.group(2)
                if m.group(1) == '"':
                    why = wrong_with_own(path, room, name)
                    if why:
                        wrong.append(f"src/{path}:{n}: {name}: {why}")
                    continue
                for pattern, rooms in LIBRARIES.items():
                    if re.match(pattern, name) and not {room, room.split("/")[0]} & rooms:
                        wrong.append(f"src/{path}:{n}: {name} belongs to {sorted(rooms)}")
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())
