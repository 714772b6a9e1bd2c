# shellcheck shell=bash
# What bench/crashes-check and bench/reproduce share: the table bench/crashes, and how one of its crashes is unpacked,
# built and made to happen. Source this file after bench/lib.sh, in the repository's top folder; it runs nothing.

# Everything of a crash lies in one folder of the cache:
#   KIND/      the source tree, built: plain, fixed or captured
#   input/     where the program runs; holds its input files
#   KIND.log   what configuring and building said
CRASH_DIR=$BENCH_DIR/crashes
CRASH_TABLE=$PWD/bench/crashes

# What is in the environment of the caller must not decide how a program is built or what it says.
unset CC CXX CPP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C

# crash_field ID NAME: one field of a crash's stanza, continuation lines joined. What the stanza leaves out is that of
# the crash it is Like.
crash_field() {
    awk -v id="$1" -v name="$2" '
        /^#/ || /^$/    { on = ""; if (/^$/) crash = ""; next }
        /^Crash: /      { crash = $2 }
        /^Like: /       { like[crash] = $2 }
        /^ /            { if (on != "") value[on] = value[on] $0; next }
                        { on = (index($0, name ": ") == 1) ? crash : ""
                          if (on != "") value[on] = substr($0, length(name) + 3) }
        END             { print (id in value) ? value[id] : value[like[id]] }' "$CRASH_TABLE"
}

crash_ids() { sed -n 's/^Crash: //p' "$CRASH_TABLE"; }

# crash_needs ID…: installs the Debian packages that the builds need and that are missing, and says so.
crash_needs() {
    local id need missing=()
    for id; do
        for need in $(crash_field "$id" Needs) gdb patch python3 dpkg-dev; do
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$need" 2>/dev/null)" = installed ] || missing+=("$need")
        done
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
    bench_say "these builds need: ${missing[*]}"
    [ "$(id -u)" = 0 ] || bench_die "as root: apt-get install ${missing[*]}"
    apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2 || bench_die "could not install ${missing[*]}"
}

# crash_flags ID: the compiler flags of its build, $FLAGS in the table. A crash of the kind asan:… needs ASan to show.
# -O1 keeps the calls of a recursion on the stack: -O2 turns some of them into jumps.
crash_flags() {
    case $(crash_field "$1" Kind) in
        asan:*) echo '-g -O1 -w -fsanitize=address -fno-omit-frame-pointer' ;;
        *)      echo '-g -O1 -w' ;;
    esac
}

# code_only PATCH: the hunks of a patch that change C sources of the program; its tests and documents are left out.
code_only() {
    awk '
        /^--- /       { header = $0; next }
        /^\+\+\+ /    { path = $2; on = path ~ /\.[chyl]$/ && path !~ /\/tests?\//
                        if (on) { print header; print } header = ""; next }
        /^(diff|Index|index|new file|deleted file|===|-- $)/ { on = 0; next }
        on            { print }' "$1"
}

# crash_unfix ID TREE: undoes the fix, so that the program crashes again: takes back Debian's patches that are named
# in the field Unfix, then runs the commands of Edit.
crash_unfix() {
    local id=$1 tree=$2 patch edit
    for patch in $(crash_field "$id" Unfix); do
        code_only "$tree/debian/patches/$patch" > "$tree/.unfix"
        [ -s "$tree/.unfix" ] || { bench_say "$id: $patch changes no C source"; return 1; }
        patch -s -R -p1 -d "$tree" --no-backup-if-mismatch < "$tree/.unfix" >&2 ||
            { bench_say "$id: $patch can't be taken back"; return 1; }
        rm -f "$tree/.unfix"
    done
    edit=$(crash_field "$id" Edit)
    [ -z "$edit" ] || (cd "$tree" && sh -ec "$edit") >&2
}

# crash_build ID KIND [UNDER…]: a fresh tree, built. KIND "fixed" leaves the fix in; UNDER runs the build step.
# Leaves the wall-clock seconds of configuring and building in KIND.seconds.
crash_build() {
    local id=$1 kind=$2 source tree log start
    shift 2
    source=$(bench_source "$(crash_field "$id" Package)") || return
    tree=$CRASH_DIR/$id/$kind log=$CRASH_DIR/$id/$kind.log
    bench_fresh "$source" "$tree" || return
    [ "$kind" = fixed ] || crash_unfix "$id" "$tree" || return
    if ! (cd "$tree/$(crash_field "$id" Folder)" || exit
          FLAGS=$(crash_flags "$id")
          export FLAGS ASAN_OPTIONS=detect_leaks=0      # a program of the build itself may leak
          sh -ec "$(crash_field "$id" Prepare)" || exit
          start=$EPOCHREALTIME
          sh -ec "$(crash_field "$id" Configure)" && "$@" sh -ec "$(crash_field "$id" Build)" || exit
          bench_calc "$EPOCHREALTIME - $start" > "$tree.seconds"
         ) > "$log" 2>&1 < /dev/null
    then
        bench_say "$id: the $kind build failed, see $log"
        return 1
    fi
}

# crash_program ID KIND: the path of the built program.
crash_program() {
    realpath -m "$CRASH_DIR/$1/$2/$(crash_field "$1" Folder)/$(crash_field "$1" Program)"
}

# crash_input ID: makes the input files anew, in the folder that it prints.
crash_input() {
    local folder=$CRASH_DIR/$1/input
    rm -rf "$folder" && mkdir -p "$folder" && (cd "$folder" && sh -ec "$(crash_field "$1" Input)") >&2 && echo "$folder"
}

# crash_arguments ID: the program's arguments, one per line; crash_stdin ID: the file for its standard input.
crash_arguments() (
    eval "set -- $(crash_field "$1" Arguments)"
    [ $# = 0 ] || printf '%s\n' "$@"
)
crash_stdin() {
    local file
    file=$(crash_field "$1" Stdin)
    echo "${file:-/dev/null}"
}

# crash_run ID PROGRAM: runs it on its input; output goes to run.log. The exit status is that of a shell: 128 + signal.
crash_run() {
    local id=$1 program=$2 folder arguments
    folder=$(crash_input "$id") || return 125
    mapfile -t arguments < <(crash_arguments "$id")
    (cd "$folder" && ulimit -c 0 -s 8192 &&
     ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
        timeout --foreground 60 "$program" "${arguments[@]}" < "$(crash_stdin "$id")") > "$CRASH_DIR/$id/run.log" 2>&1
}

# crash_stack ID PROGRAM TREE: runs it below gdb and prints four words: the signal, the innermost function whose
# source lies in TREE, the number of such frames, and how many different functions they are (at most 2000 frames
# are looked at). After them come the functions, innermost first, at most 40.
crash_stack() {
    local id=$1 program=$2 tree=$3 folder arguments
    folder=$(crash_input "$id") || return
    mapfile -t arguments < <(crash_arguments "$id")
    cat > "$CRASH_DIR/$id/stack.py" <<END
import gdb, os
tree = os.path.realpath("$tree") + "/"
for setting in ("pagination off", "confirm off", "startup-with-shell on", "print frame-arguments none"):
    gdb.execute("set " + setting)
gdb.execute("handle SIGALRM SIGCHLD SIGPIPE nostop noprint pass")
gdb.execute("run " + os.environ["CRASH_ARGUMENTS"] + " < $(crash_stdin "$id") > ../gdb.out 2>&1")
names = []
signal, frame = "none", None
if gdb.selected_inferior().pid:
    signal = gdb.execute("info program", to_string=True).partition("signal ")[2].partition(",")[0]
    frame = gdb.newest_frame()
looked = 0
while frame is not None and looked < 2000:
    sal = frame.find_sal()
    if sal.symtab is not None and os.path.realpath(sal.symtab.fullname()).startswith(tree):
        names.append(frame.name() or "?")
    looked += 1
    try: frame = frame.older()
    except gdb.error: break
print("STACK", signal, names[0] if names else "?", len(names), len(set(names)), *names[:40])
END
    (cd "$folder" && ulimit -c 0 -s 8192 &&
     ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 SHELL=/bin/bash CRASH_ARGUMENTS=${arguments[*]@Q} \
        timeout 120 gdb -nx -q -batch -x ../stack.py "$program") 2> "$CRASH_DIR/$id/gdb.err" < /dev/null |
        sed -n 's/^STACK //p'
}
