"""confirm.py FILE VERDICT[:GRADE] FAMILY FUNCTION…: does the --json output have such a
warning? "none" as the verdict: there is no warning of that family there."""
import json
import sys

with open(sys.argv[1]) as f:
    d = json.load(f)
verdict, _, grade = sys.argv[2].partition(":")
family = sys.argv[3]
functions = sys.argv[4:]
count = {}
for w in d["warnings"]:
    for key in ("tool", "rule", "family", "file", "line", "verdict", "grade", "opportunities",
                "evidence"):
        assert key in w, (key, w)
    count[w["verdict"]] = count.get(w["verdict"], 0) + 1
for v in ("confirmed", "rejected", "undetermined", "unanchored"):
    assert d["verdicts"][v] == count.get(v, 0), (v, d["verdicts"], count)
for function in functions:
    found = [w for w in d["warnings"] if w["family"] == family and w.get("function") == function]
    if verdict == "none":
        assert not found, found
        continue
    assert len(found) == 1, (function, found, d["warnings"])
    w = found[0]
    assert w["verdict"] == verdict, w
    assert not grade or w["grade"] == grade, w
    assert (w["evidence"] is not None) == (verdict == "confirmed"), w
    assert (w["opportunities"] > 0) or verdict == "undetermined", w
