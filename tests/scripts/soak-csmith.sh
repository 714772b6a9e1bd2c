# Random programs: a captured build runs like a plain one, and its bitcode,
# linked by itself, too.
. "$TOP/tests/scripts/tap.bash"
include=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
if [ -z "$include" ]; then
    skip "random programs" "csmith is not installed"
    done_testing
    exit
fi

# runs PROGRAM: what it prints and how it ends, within 5 seconds of processor.
runs() { (ulimit -t 5; "$1"; echo "status $?") 2>&1; }

same() {
    local seed=$1 plain bitcode
    csmith --seed "$seed" >"s$seed.c" || return 1
    gcc -w -O0 -I"$include" "s$seed.c" -o plain || return 1
    plain=$(runs ./plain)
    case $plain in *"status 0") ;; *) return 0 ;; esac     # does not end: says nothing
    counted=$((counted + 1))
    "$SUNDEW" -q capture -- gcc -w -O0 -I"$include" "s$seed.c" -o captured || return 1
    [ "$(runs ./captured)" = "$plain" ] || { echo "captured differs"; return 1; }
    bitcode=$("$SUNDEW" show units ./captured --json | sed -n 's/.*"bitcode": "\(.*\)",/\1/p')
    clang-19 -w "$bitcode" -o from-bitcode || return 1
    [ "$(runs ./from-bitcode)" = "$plain" ] || { echo "bitcode differs"; return 1; }
}

counted=0
for seed in $(seq 1 ${SEEDS:-100}); do
    ok "seed $seed" same "$seed"
done
ok "most of them count ($counted)" test "$counted" -ge $((${SEEDS:-100} / 2))
done_testing
