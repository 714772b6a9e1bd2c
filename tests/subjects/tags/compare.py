# compare.py OUT.json WANT: verdicts that differ, one a line.
import json, sys

got = {(p["function"], p["parameter"]): (p["verdict"], p["own"], p["stage"])
       for p in json.load(open(sys.argv[1]))["parameters"]}
bad = seen = 0
for line in open(sys.argv[2]):
    if line.startswith("#") or not line.strip():
        continue
    function, parameter, deep, own = line.split()
    seen += 1
    have = got.get((function, parameter))
    # by-value structs own nothing: their own bytes are always a copy
    if not have or have[0] != deep or have[1] != own and not (have[1] == "immutable" and own == "unknown"):
        print("%s(%s): %s, want %s %s" % (function, parameter, have, deep, own))
        bad += 1
sys.exit(1 if bad or seen < 70 else 0)
