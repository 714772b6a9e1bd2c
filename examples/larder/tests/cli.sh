#!/bin/sh
# usage: cli.sh TOOL DATA - run the tool and compare what it says.

tool=$1
data=$2
failed=0

# expect NAME EXPECTED ACTUAL
expect() {
    if [ "$2" != "$3" ]; then
        printf 'cli.sh: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
        failed=1
    fi
}

# fails NAME STATUS ARGUMENT... - the tool says something and exits so
fails() {
    name=$1 status=$2
    shift 2
    said=$("$tool" "$@" 2>&1 >/dev/null)
    expect "$name" "$status" $?
    [ -n "$said" ] || expect "$name" "a message" ""
}

stock="      9 MILK (cold, by the l), low [delivered before seven]
      4 EGGS (cold, by the doz)
     26 FLOUR (dry, by the kg) [keep dry]
     23 JAM (dry, by the pc)"
expect "stock" "$stock" "$("$tool" "$data/market.ldg" stock)"
expect "stock, packed" "$stock" "$("$tool" -p "$data/market.ldg" stock)"

expect "usage" "MILK: 11 used, 0 before" \
    "$("$tool" "$data/market.ldg" usage MILK 1 3)"
expect "top" "     15 MILK
      2 EGGS
     14 FLOUR
      7 JAM" "$("$tool" "$data/market.ldg" top)"
expect "urgent" "buy MILK" "$("$tool" "$data/market.ldg" urgent)"
expect "kit" "4 of BREAKFAST, 1330 cents each" \
    "$("$tool" "$data/market.ldg" kit BREAKFAST)"
expect "nested kit" "2 of BRUNCH, 2945 cents each" \
    "$("$tool" "$data/market.ldg" kit BRUNCH)"
expect "browse" "MILK: 9
EGGS: 4
EGGS: 3
MILK: 9" "$(printf 'snstsfs?' | "$tool" "$data/market.ldg" browse)"

fails "no ledger" 1 "$data/missing.ldg" stock
fails "no command" 2 "$data/market.ldg"
fails "unknown command" 2 "$data/market.ldg" dance
fails "unknown kit" 1 "$data/market.ldg" kit SUPPER
fails "unknown item" 1 "$data/market.ldg" usage SUPPER 1 2

# Each of these lines is refused, and the message names it.
bad=$(mktemp) || exit 1
trap 'rm -f "$bad"' EXIT
while read -r line; do
    printf 'shelf a 10\nitem X a pc\n%s\n' "$line" >"$bad"
    expect "refuse: $line" "larder: line 3:" \
        "$("$tool" "$bad" stock 2>&1 | cut -c 1-15)"
done <<'END'
shelf a 10
shelf b
shelf b many
shelf b 99999999
item X a pc
item Y b pc
item Y a bushel
in 0 X 1 pc
in 1 X 0 pc
in 1 X 11 pc
in 1 X 1 kg
out 1 X 1 pc
void 1
kit K Z
kit X X
note Z gone
note X "never closed
dance
in 1 X 1 pc 1 2 3 4 5 6 7 8
END

exit $failed
