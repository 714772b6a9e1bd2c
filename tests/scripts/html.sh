#!/bin/bash
# The report page in a real browser: it opens without an error, filters, can be
# used with the keyboard, and hostile text does not become markup.
set -u
for tool in chromium chromedriver python3; do
    command -v $tool >/dev/null && continue
    echo "1..1"
    echo "ok 1 - the page in a browser # SKIP $tool is not installed"
    exit 0
done
pages=$(mktemp -d "${TMPDIR:-/tmp}/sundew-html.XXXXXX")
trap 'rm -rf "$pages"' EXIT
mkdir -p "$pages/share/rules" "$pages/two"
cp -r "$TOP/share/report" "$pages/share/"
cat >"$pages/share/rules/arguments-swapped.md" <<'END'
# arguments/swapped

Two arguments stand **in the wrong order**.

```c
set_range(b, length, start);   /* </code><script>alert(9)</script> */
```
END
"$SUNDEW_BUILD/tests/test_output" --pages "$pages" "$pages/share" 5000 || exit 1
# Two thousand findings are less than 3 MB.
"$SUNDEW_BUILD/tests/test_output" --pages "$pages/two" "$pages/share" 2000 || exit 1
python3 "$TOP/tests/scripts/browser.py" "$pages"
