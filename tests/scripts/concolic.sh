# Concolically woven programs behave like plain ones, with symbolic input and without,
# and what they say of their path holds.
. "$TOP/tests/scripts/tap.bash"
weave=$SUNDEW_BUILD/tests/weave
run=$SUNDEW_BUILD/tests/concolic-run
subjects=$TOP/tests/subjects/concolic
csmith=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
export SUNDEW_TOLD=$work/told

# bitcode SOURCE [FLAGS…]: unit.bc, as a capture makes it.
bitcode() { clang-19 -w -O0 -g -Xclang -disable-O0-optnone -c -emit-llvm "$@" -o unit.bc; }
outcome() { "$@" 2>/dev/null; echo "status $?"; }

# same INPUT FLAGS…: unit.bc, woven, does what ./plain does on INPUT (a file; what the program
# writes to input.bin is the input if it does), and each conjunct holds.
same() {
    local in=$1 want got
    shift
    want=$(outcome ./plain <"$in")
    "$weave" "$@" -r "$SUNDEW_BUILD" -o woven -b unit.bc || return 1
    got=$(outcome ./woven <"$in")
    [ "$got" = "$want" ] || { echo "without symbols: want"; echo "$want"; echo "got"; echo "$got"; return 1; }
    [ -f input.bin ] && in=input.bin
    got=$(outcome "$run" -q -i "$in" ./woven <"$in")
    [ "$got" = "$want" ] || { echo "with symbols: want"; echo "$want"; echo "got"; echo "$got"; cat "$SUNDEW_TOLD"; return 1; }
    grep -q '^started' "$SUNDEW_TOLD"
}
chosen=(-c "$TOP/share" -a "$TOP/share")
full=(-C "$TOP/share" -a "$TOP/share")

# ---- all constructs
fresh constructs
bitcode "$subjects/constructs.c"
ok "the constructs compile" clang-19 -w -O1 "$subjects/constructs.c" "$subjects/stub.c" -o plain
printf 'kq3#\x81\x07zz-the-rest-of-this-is-not-so-interesting-but-long-enough' >input
ok "all constructs do what they did" same input "${chosen[@]}"
kept() { "$run" -q ./woven <input 2>&1 >/dev/null | grep '^lost'; }
ok "…and keep their labels" test -z "$(kept)"
ok "the same with everything woven" same input "${full[@]}"
ok "…and keep their labels" test -z "$(kept)"
unseen() { ! grep outside "$SUNDEW_TOLD"; }
ok "nothing outside of the analysis has a label" unseen

# ---- out of reach
fresh reach
bitcode "$subjects/reach.c"
clang-19 -w -O1 "$subjects/reach.c" -o plain
printf 'kq3#zz!' >input
ok "calls out of the input's reach do what they did" same input "${chosen[@]}"
one_question() { grep -q '^started branches 1 pins 0 ' "$SUNDEW_TOLD"; }
ok "…and the rest is followed: one branch, and none at what was written over" one_question
calls() { objdump -d --no-show-raw-insn --disassemble="$1" woven | grep -qE "(call|jmp) .*<$2"; }
ok "the library is called where nothing symbolic comes" calls apart strncmp@plt
ok "…and the model elsewhere" calls within.sym sundew_standin_strncmp
ok "everything woven does the same" same input "${full[@]}"
ok "…by the model" calls apart.sym sundew_standin_strncmp

# A result that some callers do not use.
fresh unused
bitcode "$subjects/unused.c"
clang-19 -w -O1 "$subjects/unused.c" -o plain
printf "2x" >input
ok "a result that some callers do not use" same input "${chosen[@]}"
ok "everything woven does the same" same input "${full[@]}"

# A string that only an earlier call was given.
fresh words
cp "$TOP/tests/subjects/concolic/words.c" words.c
bitcode words.c
clang-19 -w -O1 words.c -o plain
printf 'ab cde' >input
ok "words do what they did" same input "${chosen[@]}"
follows() { "$run" -i input ./woven <input >/dev/null && grep -qF "$1" "$SUNDEW_TOLD"; }
ok "…and the second one is followed" follows "input[5] != ' '"

# ---- random programs: all their global variables are symbolic
random() {
    local seed=$1
    shift
    csmith --seed "$seed" --max-funcs 4 >s.c && python3 "$subjects/label.py" s.c || return 1
    clang-19 -w -O1 "-I$csmith" s.c "$subjects/stub.c" -o plain || return 1
    case $(ulimit -t 2; outcome ./plain) in *"status 0") ;; *) return 0 ;; esac     # does not end
    counted=$((counted + 1))
    bitcode "-I$csmith" s.c && same /dev/null "$@" || { echo "seed $seed"; return 1; }
}
several() { local seed; for seed in $(seq "$1" "$2"); do random "$seed" "${chosen[@]}" || return 1; done; }
if [ -n "$csmith" ]; then
    fresh random
    counted=0
    first=${SEED_FIRST:-1} last=${SEED_LAST:-4}
    ok "random programs $first to $last" several "$first" "$last"
    ok "…of which some end ($counted)" test "$counted" -ge $(((last - first + 1) / 3))
else
    skip "random programs" "csmith is not installed"
fi
done_testing
