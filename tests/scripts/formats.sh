#!/bin/bash
# The formats that other programs read, read by other programs.
set -u
pages=$(mktemp -d "${TMPDIR:-/tmp}/sundew-formats.XXXXXX")
trap 'rm -rf "$pages"' EXIT
"$SUNDEW_BUILD/tests/test_output" --pages "$pages" "$TOP/share" 50 || exit 1
python3 - "$pages" <<'END'
import json, re, sys, xml.etree.ElementTree as xml
n = failed = 0
def check(what, ok):
    global n, failed
    n += 1
    failed += not ok
    print("%sok %d - %s" % ("" if ok else "not ", n, what))
for name, findings in ("sample", 3), ("hostile", 2), ("many", 50):
    def text(end):
        with open("%s/%s.%s" % (sys.argv[1], name, end), "rb") as f:
            return f.read().decode()
    suites = xml.fromstring(text("xml"))
    doc = json.loads(text("json"))
    grave = sum(f["level"] != "note" for f in doc["findings"])
    check("%s: JUnit is XML with each finding, and notes don't fail" % name,
          len(suites.findall(".//testcase[@file]")) == findings and
          len(suites.findall(".//failure")) == grave and
          all(int(s.get("tests")) == len(s.findall("testcase")) for s in suites))
    check("%s: JSON has each finding" % name,
          len(doc["findings"]) == findings and doc["schema"] == 1)
    lines = text("tap").split("\n")
    tests = [l for l in lines if re.match(r"(not )?ok \d", l)]
    check("%s: TAP keeps to its plan" % name, lines[1] == "1..%d" % len(tests))
    blocks = [l for l in lines if re.match(r"  \w+: ", l)]
    check("%s: TAP's fields are strings" % name,
          all(isinstance(json.loads(l.split(": ", 1)[1]), str) for l in blocks))
    commands = text("github").splitlines()
    check("%s: annotations, then the summary" % name,
          commands[-1].startswith("Sundew: ") and
          all(re.match(r"::(error|warning|notice) [^\n]*?::", l) for l in commands[:-1]))
print("1..%d" % n)
sys.exit(failed > 0)
END
