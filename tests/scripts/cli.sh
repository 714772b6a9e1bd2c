# The command line: help, errors with suggestions, configuration, completion,
# manual pages, installation, and clean ends when the disk is full.
. "$TOP/tests/scripts/tap.bash"

ok "no command: help, exit status 2" status 2 "$SUNDEW"
ok "--help: exit status 0" status 0 "$SUNDEW" --help
ok "help lists the commands" says "capture a build" "$SUNDEW" help
ok "help for one command" says "Usage: sundew capture" "$SUNDEW" help capture
ok "…by the option too" says "Usage: sundew capture" "$SUNDEW" capture --help
ok "…for two words" says "Usage: sundew show programs" "$SUNDEW" help show programs
ok "…for a group" says "Usage: sundew show units" "$SUNDEW" help show
ok "…for none" status 2 "$SUNDEW" help nonsense
ok "the versions in use" says "LLVM 19" "$SUNDEW" --version
ok "…of Z3 and SQLite" sh -ec '"$SUNDEW" --version | grep -q "Z3 [0-9].*SQLite [0-9]"'
ok "a misspelt command" says "did you mean 'capture'?" "$SUNDEW" captuer
ok "…exit status 2" status 2 "$SUNDEW" captuer
ok "a misspelt option" says "did you mean --workspace?" "$SUNDEW" capture --workspcae x
ok "an unknown option without a near one" says "see: sundew help capture" "$SUNDEW" capture --qqqqqqqqqqqq
ok "an option without its value" says "needs a value" "$SUNDEW" report --html
ok "a switch with a value" says "takes no value" "$SUNDEW" report --json=yes
ok "a shortened option" says "out of range or not" sh -c '"$SUNDEW" doctor --col=sometimes 2>&1 | sed "s/auto, always or never/out of range or not/"'
ok "a bad duration" says "not a duration" "$SUNDEW" doctor --time soon
ok "a bad size" says "not a size" "$SUNDEW" doctor --memory much
ok "a bad number of jobs" says "not a number" "$SUNDEW" doctor -j 0
ok "a bad seed" says "not a number" "$SUNDEW" doctor --seed -3
ok "letters together" status 0 "$SUNDEW" -qv doctor
ok "hostile words are shown harmlessly" says 'no command '"'"'\x1b[31mx'"'" "$SUNDEW" $'\e[31mx'
ok "every command's help has an example" sh -ec '
    "$SUNDEW" help | sed -n "/^Commands:/,/^Options/s/^  \([a-z-]*\( [a-z-]\+\)\?\)  .*/\1/p" >commands
    [ "$(wc -l <commands)" -ge 12 ]
    while read -r c; do
        "$SUNDEW" help $c | grep -q "^Examples:" || { echo "no example: $c"; exit 1; }; done <commands'
ok "README.md has every command" sh -ec '
    while read -r c; do
        grep -q "^|.*\`$c\`" "$TOP/README.md" || { echo "not in README.md: $c"; exit 1; }; done <commands'
ok "every technique is a command and has a README.md" sh -ec '
    for d in "$TOP"/src/technique/*/; do
        grep -qx "$(basename "$d")" commands || { echo "no command: $d"; exit 1; }
        [ -s "$d/README.md" ] || { echo "no README.md: $d"; exit 1; }; done'

ok "doctor" says "clang-19" "$SUNDEW" doctor
ok "doctor as JSON" sh -ec '"$SUNDEW" doctor --json | python3 -c "import json,sys; assert any(c[\"name\"] == \"clang-19\" and c[\"ok\"] for c in json.load(sys.stdin))"'
ok "doctor tells what a sandbox is granted" says "Landlock" "$SUNDEW" doctor
ok "sundew-run by hand: status 2, and why" sh -c '"$SUNDEW_BUILD/sundew-run" 2>err; [ $? = 2 ] && grep -q "part of Sundew" err'
ok "doctor without clang-19: status 2, and why" sh -c 'SUNDEW_LLVM_PREFIX=/nowhere PATH=/nowhere:$(dirname "$(command -v sh)") ; export SUNDEW_LLVM_PREFIX; mkdir -p bin; for t in cc sh; do ln -sf "$(command -v $t || echo /usr/bin/$t)" bin/$t; done; PATH=$PWD/bin "$SUNDEW" doctor >out; [ $? = 2 ] && grep -q "MISSING  clang-19 .*nothing can be captured" out'

fresh unrun
ok "report where nothing has run: exit status 2" status 2 "$SUNDEW" report
ok "…and no workspace is left behind" test ! -e .sundew
ok "a technique without sources: exit status 2" status 2 "$SUNDEW" arguments
ok "…and no workspace is left behind" test ! -e .sundew
ok "baseline likewise" status 2 "$SUNDEW" baseline set
printf 'int main(void) { return 0; }\n' >a.c; "$SUNDEW" -q capture -- gcc a.c -o a
ok "…nor after a capture alone" says "no technique has run here yet" "$SUNDEW" report
"$SUNDEW" -q arguments
ok "…but then" says "no findings" "$SUNDEW" report
ok "a technique that is none" says "did you mean 'arguments'?" "$SUNDEW" report argumnets
ok "explain lists a technique's rules" says "arguments/naming" "$SUNDEW" explain arguments
ok "a function that is not there" says "no 'nosuch' in ./a" "$SUNDEW" show functions ./a nosuch
ok "a group without its second word" says "sundew baseline what? One of: set, prune" "$SUNDEW" baseline
ok "complete is the last line" sh -c '"$SUNDEW" arguments 2>&1 | tail -n 1 | grep -qx "sundew: complete"'
ok "a budget that is over is said" says "INCOMPLETE (the time was over)" "$SUNDEW" --time 1ms arguments
printf 'int main(void) { return ; ; ) }\n' >a.c
ok "when no unit can be analysed, that is exit status 2" status 2 "$SUNDEW" arguments
ok "…for types too" status 2 "$SUNDEW" types

fresh parts
printf 'void set_range(int start, int length);\nvoid f(int start, int length) { set_range(start, length); }\nvoid h(int start, int length) { set_range(start, length); }\n' >good.c
printf 'void set_range(int start, int length);\nvoid g(int start, int length) { set_range(length, start); }\n' >bad.c
"$SUNDEW" -q capture -- sh -c 'gcc -c good.c bad.c; gcc -shared -o x.so good.o bad.o'
ok "one finding in the build" status 1 "$SUNDEW" arguments
ok "none in one file of it" status 0 "$SUNDEW" arguments good.c
ok "…which does not replace the run over the build" says "1 finding" "$SUNDEW" report
ok "one file is judged by the whole build" says "2 of 2 other calls" "$SUNDEW" arguments bad.c
ok "a file that is no C" says "no C source" "$SUNDEW" arguments x.so

fresh config
mkdir .sundew; printf '1\n' >.sundew/version; mkdir .sundew/programs .sundew/units
printf '# all\njobs = 3\n[report]\nall = yes\n' >sundew.ini
ok "settings come from sundew.ini" says "jobs = 3    # sundew.ini:2" "$SUNDEW" report --print-config
ok "…those of the command too" says "all = yes    # sundew.ini:4" "$SUNDEW" report --print-config
ok "…and only for it" says "all = no    # default" "$SUNDEW" doctor --print-config
ok "the command line wins" says "jobs = 5    # command line" "$SUNDEW" report -j5 --print-config
printf 'jbos = 3\n' >sundew.ini
ok "an unknown setting" says "sundew.ini:1: no setting 'jbos'" "$SUNDEW" report
printf '[nonsense]\n' >sundew.ini
ok "an unknown section" says "sundew.ini:1: no command 'nonsense'" "$SUNDEW" report
printf 'what\n' >sundew.ini
ok "a line that is none" says "expected 'name = value'" "$SUNDEW" report
ok "a missing configuration file" status 2 "$SUNDEW" report --config none.ini
# One that was found may be a stranger's.
ln -s / outside
for bad in '[web]\nno-sandbox = yes' '[record]\nwritable = .' '[examples]\nudf = x.json' 'sarif = /var/tmp/x' 'sarif = ../x' 'sarif = outside/var/tmp/x'; do
    printf "$bad\n" >sundew.ini
    command=$(sed -n 's/^\[\(.*\)\]$/\1/p' sundew.ini)
    ok "a project may not set: $bad" says "a project may not set" "$SUNDEW" ${command:-report} x
done
printf 'sarif = new/x\n[web]\nno-sandbox = no\n' >sundew.ini
ok "…files of its own" says "sarif = new/x    # sundew.ini:1" "$SUNDEW" report --print-config
printf 'sarif = ../x\n' >sundew.ini
ok "…and the user may" says "sarif = ../x    # sundew.ini:1" "$SUNDEW" report --config sundew.ini --print-config
rm sundew.ini
mkdir -p deep/er; cd deep/er
printf 'jobs = 9\n' >sundew.ini
ok "settings are the project's, not the current folder's" says "jobs = " sh -c '"$SUNDEW" report --print-config | grep -v "jobs = 9"'

fresh completion
"$SUNDEW" help --completion bash >c.bash
"$SUNDEW" help --completion zsh >c.zsh
"$SUNDEW" help --completion fish >c.fish
complete_for() {    # complete_for WORDS… prints what bash would offer
    bash -c 'source c.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _sundew; echo "${COMPREPLY[@]}"' x sundew "$@"
}
ok "bash completes commands" says "capture" complete_for cap
ok "…the second word" says "programs" complete_for show ''
ok "…options of the command" says "--min-share" complete_for capture --min
ok "…options of all" says "--workspace" complete_for capture --wo
ok "bash accepts it" bash -n c.bash
ok "zsh's names every command" sh -ec 'grep -q "show programs" c.zsh && grep -q -- --min-share c.zsh'
ok "fish's names every command" sh -ec 'grep -q "a capture" c.fish && grep -q "l min-share" c.fish'
ok "no completion for another shell" status 2 "$SUNDEW" help --completion tcsh
ok "manual pages" "$SUNDEW" help --man-pages man
ok "…one for each command" sh -ec 'test -s man/sundew.1 && test -s man/sundew-capture.1 && test -s man/sundew-show-programs.1'
ok "…without complaint from groff" sh -ec 'for p in man/*.1; do LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z $p >/dev/null 2>said; test ! -s said || { cat said; exit 1; }; done'

fresh install
ok "make install" make -C "$TOP" install NODEPS=1 BUILD="$SUNDEW_BUILD" $([ "${SUNDEW_BUILD%asan}" = "$SUNDEW_BUILD" ] || echo SAN=1) DESTDIR="$PWD/root" PREFIX=/usr
ok "…it runs from there" says "sundew" root/usr/bin/sundew --version
printf 'int main(void) { return 0; }\n' >a.c
ok "…and captures" sh -ec 'root/usr/bin/sundew capture -- gcc a.c -o a; root/usr/bin/sundew show programs | grep -q "1 unit"'
ok "…sundew-cc too" sh -ec 'root/usr/bin/sundew-cc a.c -o b; root/usr/bin/sundew show units ./b | grep -q captured'
ok "…with its pages and tables" sh -ec 'test -d root/usr/lib/sundew/share/rules && test -s root/usr/share/man/man1/sundew.1 && test -s root/usr/share/bash-completion/completions/sundew'
ok "doctor is content there" status 0 root/usr/bin/sundew doctor
ok "make uninstall leaves nothing" sh -ec 'make -C "$TOP" uninstall NODEPS=1 DESTDIR="$PWD/root" PREFIX=/usr; [ -z "$(find root -type f -o -type l)" ]'

fresh full
printf 'int main(void) { return 0; }\n' >a.c
"$SUNDEW" -q capture -- gcc a.c -o a
ok "a full disk behind standard output" status 2 sh -c '"$SUNDEW" show programs >/dev/full'
ok "…and behind a file" status 2 "$SUNDEW" show commands -o /dev/full
ok "a reader that has seen enough is no failure" bash -c 'set -o pipefail; "$SUNDEW" help | head -1'
every_fault() {      # every_fault VARIABLE COMMAND…: fails cleanly or works
    local n variable=$1 said
    shift
    for n in $(seq 1 40); do
        said=$(env $variable=$n "$@" 2>&1)
        case $? in
            0|1) ;;
            2) [ -n "$said" ] || { echo "$variable=$n: no message"; return 1; } ;;
            *) echo "$variable=$n: status $?: $said"; return 1 ;;
        esac
    done
}
ok "every failing write gives a message" every_fault SUNDEW_FAULT "$SUNDEW" report --html r.html --sarif r.sarif
ok "…in show" every_fault SUNDEW_FAULT "$SUNDEW" show programs --json
ok "…in capture" every_fault SUNDEW_FAULT "$SUNDEW" capture -- true
ok "every failing allocation ends it with status 2" every_fault SUNDEW_FAULT_ALLOC "$SUNDEW" report --json
done_testing
