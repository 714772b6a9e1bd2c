"""Prints a crash file (runtime/format/crashfile.h) a record a line, for scripts."""
import struct
import sys

sure = 0
TAGS = ["", "build", "failure", "stack", "frame", "copy", "memory", "file",
        "external", "maps", "missing", "end"]
KINDS = ["", "signal", "abort", "assert", "sanitizer", "overflow", "dump", "exit"]
PLACES = ["", "heap", "freed", "global", "stack", "literal", "guessed", "argument"]

data = open(sys.argv[1], "rb").read()
assert data[:8] == b"SUNDEWCR", "magic"
at = 16
while at + 8 <= len(data):
    tag, n = struct.unpack_from("<II", data, at)
    p = data[at + 8:at + 8 + n]
    if len(p) < n:
        break
    at += 8 + (n + 7) // 8 * 8
    if tag == 1:
        print("build", *p[16:].decode().split("\n"))
    elif tag == 2:
        kind, sig, code, access, address, pc, sp = struct.unpack_from("<IiiIQQQ", p)
        print("failure", KINDS[kind], sig, "access", access, "at", hex(address), p[48:].decode())
    elif tag == 3:
        print("stack", struct.unpack_from("<II", p)[1])
    elif tag == 4:
        num, fn, flags, ns, nl, sp = struct.unpack_from("<IIIHHQ", p)
        slots = struct.unpack_from("<%dQ" % ns, p, 24)
        if flags & 8:            # an inlined function that may have returned
            print("perhaps", p[24 + 8 * (ns + nl):].decode())
            continue
        num, sure = sure, sure + 1
        print("frame", num, p[24 + 8 * (ns + nl):].decode(), "flags", flags, *map(hex, slots))
    elif tag == 5:
        frame, type_, address = struct.unpack_from("<IIQ", p)
        print("copy", frame, hex(address), len(p) - 16, p[16:16 + 64].hex())
    elif tag == 6:
        address, size, off, place, type_, var, hidden = struct.unpack_from("<QQQIIII", p)
        print("memory", PLACES[place], hex(address), size, off, "hidden", hidden, p[40:40 + 64].hex())
    else:
        print(TAGS[tag], p[:80])
