#!/bin/bash
# What output_sarif writes, held against the published schema. The schema and
# the validator come from npm by name, into a cache folder; nothing of them is
# kept in the repository.
set -u
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sundew-test/sarif
schema=$cache/node_modules/@datadog/datadog-ci-plugin-sarif/dist/json-schema/sarif-schema-2.1.0.json
skip() {
    echo "1..1"
    echo "ok 1 - SARIF against its schema # SKIP $1"
    exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed"
if [ ! -f "$schema" ] || [ ! -d "$cache/node_modules/ajv-formats" ]; then
    mkdir -p "$cache" &&
    (cd "$cache" && npm install --no-save --ignore-scripts --no-audit --no-fund \
        --legacy-peer-deps --omit=peer ajv@8 ajv-formats@3 \
        @datadog/datadog-ci-plugin-sarif@4.4.0 >npm.log 2>&1) ||
        skip "npm could not install the schema: $(grep -m1 'npm error' "$cache/npm.log" | tr -d '#')"
fi
[ -f "$schema" ] || skip "the npm package has no schema any more"
pages=$(mktemp -d "${TMPDIR:-/tmp}/sundew-sarif.XXXXXX")
trap 'rm -rf "$pages"' EXIT
"$SUNDEW_BUILD/tests/test_output" --pages "$pages" "$TOP/share" 25001 || exit 1
cd "$cache" && node - "$schema" "$pages" <<'END'
const fs = require('fs');
const zlib = require('zlib');
const Ajv = require('ajv').default, formats = require('ajv-formats').default;
const [schema, pages] = process.argv.slice(2);
const ajv = new Ajv({ allErrors: true, strict: false });
formats(ajv);
const valid = ajv.compile(JSON.parse(fs.readFileSync(schema)));
let n = 0, failed = 0;
const check = (what, ok, why) => {
  n++;
  failed += !ok;
  console.log(`${ok ? '' : 'not '}ok ${n} - ${what}`);
  if (!ok) console.log(`# ${why}`);
};
for (const name of ['sample', 'hostile', 'many']) {
  const text = fs.readFileSync(`${pages}/${name}.sarif`);
  const doc = JSON.parse(text);
  check(`${name} fits the schema`, valid(doc),
        JSON.stringify((valid.errors || []).slice(0, 3)));
  check(`${name} is one run of at most 25,000 results`,
        doc.runs.length === 1 && doc.runs[0].results.length <= 25000, '');
  check(`${name} is at most 10 MB packed`, zlib.gzipSync(text).length < 10e6, '');
}
/* The validator does say no. */
const doc = JSON.parse(fs.readFileSync(`${pages}/sample.sarif`));
doc.runs[0].results[0].level = 'fatal';
check('a wrong level is refused', !valid(doc), '');
console.log(`1..${n}`);
process.exit(failed ? 1 : 0);
END
