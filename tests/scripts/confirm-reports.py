"""Writes the same two warnings about twins.c as every tool would: reports/NAME."""
import json
import os
import sys

source = os.path.abspath(sys.argv[1])
lines = open(source).read().split("\n")


def place(text):
    n = [i for i, l in enumerate(lines) if text in l][0]
    return n + 1, lines[n].index(text) + 1


read_line, read_column = place("read(fd, header")
drop_line, drop_column = place("cfg_parse(text, &value);")
offset = sum(len(l) + 1 for l in lines[:read_line - 1]) + read_column - 1
offset2 = sum(len(l) + 1 for l in lines[:drop_line - 1]) + drop_column - 1
os.makedirs("reports", exist_ok=True)


def write(name, text):
    with open("reports/" + name, "w") as f:
        f.write(text)


def sarif(uri, line, column, rule="-Wunused-result", tool="somecheck"):
    return {"ruleId": rule, "message": {"text": "ignored"}, "locations": [{"physicalLocation": {
        "artifactLocation": {"uri": uri}, "region": {"startLine": line, "startColumn": column}}}]}


def run(results, tool="somecheck"):
    return json.dumps({"version": "2.1.0", "runs": [
        {"tool": {"driver": {"name": tool}}, "results": results}]})


write("a.sarif", run([sarif("file://" + source.replace(" ", "%20"), read_line, read_column),
                      sarif("twins.c", drop_line, drop_column)]))
write("unknown.sarif", run([sarif("twins.c", read_line, 1, "XYZ-1"),
                            sarif("twins.c", drop_line, 9999, "")], "never heard of"))
write("odd.sarif", run([
    sarif("/no/such/place/other.c", 3, 1), sarif("twins.c", 999999, 1), sarif("twins.c", -3, -3),
    sarif("stdio.h", 40, 1), sarif("twins.c", 0, 0), {"ruleId": 7, "locations": 3}, 5, None,
    sarif("twins.c", 1, 1, "-Wimplicit-fallthrough"), sarif("", 1, 1)]))
write("many.sarif", run([sarif("twins.c", i % 400 + 1, 1, "R%d" % (i % 50))
                         for i in range(int(sys.argv[2]) if len(sys.argv) > 2 else 20000)]))
write("gcc.json", "\n".join(json.dumps([{"kind": "warning", "option": "-Wunused-result",
      "message": "ignored", "locations": [{"caret": {"file": f, "line": l, "column": c}}]}])
      for f, l, c in ((source, read_line, read_column), ("twins.c", drop_line, drop_column))))
write("cppcheck.xml", '<?xml version="1.0"?>\n<results version="2"><errors>' + "".join(
    '<error id="ignoredReturnValue" severity="style" msg="a &lt;b&gt; &quot;c&quot;">'
    '<location file="%s" line="%d" column="%d"/></error>' % t
    for t in ((source, read_line, read_column), ("twins.c", drop_line, drop_column)))
    + "</errors></results>\n")
write("clang.plist", """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN" "http://x">
<plist version="1.0"><dict><key>files</key><array><string>%s</string></array>
<key>diagnostics</key><array>""" % source + "".join("""<dict><key>path</key><array>
<dict><key>kind</key><string>event</string></dict></array>
<key>description</key><string>x &amp; y</string>
<key>check_name</key><string>cert-err33-c</string><key>location</key><dict>
<key>line</key><integer>%d</integer><key>col</key><integer>%d</integer><key>file</key><integer>0</integer>
</dict></dict>""" % t for t in ((read_line, read_column), (drop_line, drop_column)))
    + "</array></dict></plist>\n")
write("tidy.yaml", "---\nMainSourceFile: '%s'\nDiagnostics:\n" % source + "".join(
    "  - DiagnosticName: cert-err33-c\n    DiagnosticMessage:\n      Message: 'ignored: it'\n"
    "      FilePath: '%s'\n      FileOffset: %d\n      Replacements: []\n    Level: Warning\n"
    % (source, o) for o in (offset, offset2)) + "...\n")
write("gcc.txt", "In file included from x.h:3:\n%s: In function 'load_hdr':\n" % source + "".join(
    "%s:%d:%d: warning: ignoring return value [-Wunused-result]\n   12 | text: 3: more\n" % t
    for t in ((source, read_line, read_column), ("twins.c", drop_line, drop_column))))
write("cut.sarif", open("reports/a.sarif").read()[:-40])
write("deep.sarif", "[" * 100000)
write("binary.sarif", "\x00\x01\x02{")
write("bad.xml", "<html><body>no</body></html>")
write("deep.plist", "<plist><dict><key>a</key>" + "<array>" * 100000)
write("empty", "")
