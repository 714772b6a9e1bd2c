# Many programs, each rebuilt plain and monitored: 200 random ones, and the
# programs of GCC's execute torture tests (of the Debian package gcc-12-source,
# fetched when this runs and kept in $SUNDEW_BENCH_DIR).
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/weave.bash"

if [ -z "$csmith" ]; then
    skip "random programs" "csmith is not installed"
else
    fresh random
    for seed in $(seq "${SEED_FIRST:-25}" "${SEED_LAST:-225}"); do
        ok "seed $seed" random "$seed"
    done
    ok "most of them count ($counted)" test "$counted" -ge $(((${SEED_LAST:-225} - ${SEED_FIRST:-25}) / 2))
fi

cache=${SUNDEW_BENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sundew-bench}/torture
fetch() {
    [ -z "$(find "$cache" -name execute -type d 2>/dev/null)" ] || return 0
    mkdir -p "$cache" && cd "$cache" && apt-get -q download gcc-12-source &&
        dpkg-deb --fsys-tarfile gcc-12-source*.deb | tar -xf - --wildcards '*/gcc-12*.tar.xz' &&
        tar -xf usr/src/gcc-12/gcc-12*.tar.xz --wildcards '*/gcc.c-torture/execute/*'
    rm -rf "$cache/usr" "$cache"/*.deb
    [ -n "$(find "$cache" -name execute -type d)" ]
}

# torture FILE: as compiled by clang it has to be linked and to end well, else it says
# nothing about the weave.
torture() {
    local name
    name=$(basename "$1" .c)
    rm -rf .sundew prog woven
    "$SUNDEW" -q capture -- gcc -w -g -O1 "$1" -o prog -lm >/dev/null 2>&1 || return 0
    timeout 20 "$weave" ./prog plain >/dev/null 2>&1 || { unbuilt="$unbuilt $name"; return 0; }
    (ulimit -t 5; ./plain) >/dev/null 2>&1 || return 0
    counted=$((counted + 1))
    for flags in "-m" "-m -2" "-m -O 3"; do
        # shellcheck disable=SC2086
        "$weave" $flags -r "$work/rt" -n stub ./prog woven >/dev/null || { echo "$name, '$flags'"; return 1; }
        rm -f "$SUNDEW_STUB"
        (ulimit -t 10; ./woven) >/dev/null 2>&1 || { echo "$name, '$flags': status $?"; return 1; }
        grep -q 'wrong [1-9]' "$SUNDEW_STUB" 2>/dev/null && { cat "$SUNDEW_STUB"; return 1; }
    done
    return 0
}

if ! (fetch); then
    skip "GCC's torture tests" "gcc-12-source could not be fetched"
else
    fresh torture
    counted=0
    unbuilt=
    n=0
    for file in $(find "$cache" -path '*execute/*.c' | sort); do
        n=$((n + 1))
        [ $((n % ${TORTURE_EVERY:-1})) = 0 ] || continue
        ok "$(basename "$file")" torture "$file"
    done
    # Inline functions without an external definition have no body in clang's bitcode.
    # shellcheck disable=SC2086
    ok "few can't be rebuilt from clang's bitcode (${unbuilt:- none})" test "$(echo $unbuilt | wc -w)" -le 16
    ok "most of them count ($counted)" test "$counted" -ge $((n / ${TORTURE_EVERY:-1} / 2))
fi
done_testing
