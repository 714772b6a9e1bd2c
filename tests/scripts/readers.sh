# Readers of files and messages: damaged input, and inputs that once felled one (tests/fuzz).
# make soak asks for 100,000 each; make fuzz looks for inputs that reach new branches.
. "$TOP/tests/scripts/tap.bash"
FUZZ=$SUNDEW_BUILD/tests/fuzz
for reader in $("$FUZZ"); do
    ok "$reader: ${READER_INPUTS:-300} damaged inputs" "$FUZZ" "$reader" "${READER_INPUTS:-300}"
done
for file in "$TOP"/tests/fuzz/found/*; do
    [ -e "$file" ] || continue
    name=$(basename "$file")
    ok "an input that felled it once: $name" "$FUZZ" "${name%%.*}" "$file"
done
done_testing
