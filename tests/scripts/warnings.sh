# gcc and clang both compile everything without a warning.
. "$TOP/tests/scripts/tap.bash"
cd "$TOP" || exit 1
flags="-std=gnu17 -D_GNU_SOURCE -Isrc -I. -I/usr/lib/llvm-19/include -DSUNDEW_VERSION=\"\" -DSUNDEW_LLVM=\"\" -DSUNDEW_DOCS_URL=\"\"
       -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror -fsyntax-only"
silent() {
    local cc=$1 files
    mapfile -t files < <(find src runtime tests/unit -name '*.c')
    [ ${#files[@]} -gt 20 ] || return 1
    printf '%s\n' "${files[@]}" | xargs -n 8 -P 2 $cc $flags
}
ok "gcc" silent gcc
ok "clang" silent clang-19
done_testing
