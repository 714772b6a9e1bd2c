# The code looks as .clang-format says; `make format` makes it so.
. "$TOP/tests/scripts/tap.bash"
cd "$TOP" || exit 1
format=${CLANG_FORMAT:-clang-format-19}

formatted() {
    find src runtime tests/unit tests/tools -name '*.[ch]' -print0 |
        sort -z | xargs -0 "$format" --dry-run -Werror --ferror-limit=3
}


ok "the code is formatted" formatted
done_testing
