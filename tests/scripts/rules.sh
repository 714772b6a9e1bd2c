# Every rule has its page, and every page the parts that share/rules/README.md
# asks for.
. "$TOP/tests/scripts/tap.bash"
cd "$TOP/share/rules" || exit 1

parts() {
    local page=$1 name
    name=$(sed -n '1s/^# //p' "$page")
    [ "${name/\//-}.md" = "$page" ] || { echo "$page begins with '$name'"; return 1; }
    for part in "## Bad" "## Good" "## How to silence" "## Limits"; do
        grep -q "^$part\$" "$page" || { echo "$page: no '$part'"; return 1; }
    done
    grep -q "sundew: ignore" "$page" || { echo "$page: not how to silence it"; return 1; }
}

pages() {
    local rule summary
    "$SUNDEW" explain | while read -r rule summary; do
        [ -f "${rule/\//-}.md" ] || { echo "$rule has no page"; return 1; }
    done
}

ok "every rule has a page" pages
for page in *.md; do
    [ "$page" = README.md ] || ok "$page" parts "$page"
done
done_testing
