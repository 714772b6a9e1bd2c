# shellcheck shell=bash
# What bench/crashes-check and bench/reproduce share: the table bench/crashes, and how one of its crashes is unpacked,
# built and made to happen. Source this file after bench/lib.sh, in the repository's top folder; it runs nothing.

# Everything lies in one folder of the cache:
#   PROGRAM/BUILD/       the source tree, built; BUILD is plain, fixed or captured, with -asan for AddressSanitizer
#   PROGRAM/BUILD.log    what configuring and building said
#   input/CRASH/         where the program runs; holds its input files
CRASH_DIR=$BENCH_DIR/crashes
CRASH_TABLE=$PWD/bench/crashes

# What is in the environment of the caller must not decide how a program is built or what it says.
unset CC CXX CPP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C

# crash_field NAME FIELD: one field of the stanza of a crash or a program, continuation lines joined.
crash_field() {
    awk -v name="$1" -v field="$2" '
        /^#/ || /^$/              { on = 0; if (/^$/) mine = 0; next }
        /^(Crash|Program): /      { mine = ($2 == name) }
        /^ /                      { if (on) value = value $0; next }
                                  { on = (mine && index($0, field ": ") == 1)
                                    if (on) value = substr($0, length(field) + 3) }
        END                       { print value }' "$CRASH_TABLE"
}

crash_programs() { sed -n 's/^Program: //p' "$CRASH_TABLE"; }

# crash_ids [PROGRAM]: the crashes of all programs, or of one.
crash_ids() {
    awk -v program="$1" '/^Crash: / { crash = $2 } /^Of: / && (program == "" || $2 == program) { print crash }' \
        "$CRASH_TABLE"
}

# crash_build_of CRASH BUILD: the build of its program that shows it: BUILD, or BUILD-asan.
crash_build_of() {
    case $(crash_field "$1" Kind) in
        asan:*) echo "$2-asan" ;;
        *)      echo "$2" ;;
    esac
}

# crash_needs PROGRAM…: installs the Debian packages that the builds need and that are missing, and says so.
crash_needs() {
    local program need missing=()
    for program; do
        for need in $(crash_field "$program" Needs) gdb patch dpkg-dev; do
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$need" 2>/dev/null)" = installed ] || missing+=("$need")
        done
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
    bench_say "these builds need: ${missing[*]}"
    [ "$(id -u)" = 0 ] || bench_die "as root: apt-get install ${missing[*]}"
    apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2 || bench_die "could not install ${missing[*]}"
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

# crash_unfix PROGRAM TREE: undoes the fixes of all its crashes: takes back the patches that Unfix names, then runs
# the commands of Edit.
crash_unfix() {
    local program=$1 tree=$2 id patch edit
    for id in $(crash_ids "$program"); do
        for patch in $(crash_field "$id" Unfix); do
            code_only "$tree/debian/patches/$patch" > "$tree/.unfix"
            [ -s "$tree/.unfix" ] || { bench_say "$id: $patch changes no C source"; return 1; }
            patch -s -R -p1 -d "$tree" --no-backup-if-mismatch < "$tree/.unfix" >&2 ||
                { bench_say "$id: $patch can't be taken back"; return 1; }
            rm -f "$tree/.unfix"
        done
        edit=$(crash_field "$id" Edit)
        [ -z "$edit" ] || (cd "$tree" && sh -ec "$edit") >&2 || { bench_say "$id: Edit failed"; return 1; }
    done
}

# crash_build PROGRAM BUILD [UNDER…]: a fresh tree, built; "fixed" leaves the fixes in. UNDER runs the build step.
# Leaves the wall-clock seconds of configuring and building in BUILD.seconds.
# The flags are CRASH_FLAGS, or: -O1 keeps the calls of a recursion on the stack: -O2 turns some of them into jumps.
crash_build() {
    local program=$1 build=$2 package version source tree log start FLAGS=${CRASH_FLAGS:-'-g -O1 -w'}
    shift 2
    package=$(crash_field "$program" Package) version=$(crash_field "$program" Version)
    source=$(bench_source "$package") || return
    [ "${source##*/}" = "$package-$version" ] || bench_say "$program: ${source##*/}, not $version as in bench/crashes"
    tree=$CRASH_DIR/$program/$build log=$CRASH_DIR/$program/$build.log
    bench_fresh "$source" "$tree" || return
    case $build in fixed*) ;; *) crash_unfix "$program" "$tree" || return ;; esac
    case $build in *-asan) FLAGS="$FLAGS -fsanitize=address -fno-omit-frame-pointer" ;; esac
    if ! (cd "$tree/$(crash_field "$program" Folder)" || exit
          export FLAGS ASAN_OPTIONS=detect_leaks=0      # a program that the build itself runs may leak
          sh -ec "$(crash_field "$program" Prepare)" || exit
          start=$EPOCHREALTIME
          sh -ec "$(crash_field "$program" Configure)" && "$@" sh -ec "$(crash_field "$program" Build)" || exit
          bench_calc "$EPOCHREALTIME - $start" > "$tree.seconds"
         ) > "$log" 2>&1 < /dev/null
    then
        bench_say "$program: the $build build failed, see $log"
        return 1
    fi
}

# crash_file PROGRAM BUILD: the path of the built program.
crash_file() {
    realpath -m "$CRASH_DIR/$1/$2/$(crash_field "$1" Folder)/$(crash_field "$1" File)"
}

# crash_input ID: makes the input files anew, in the folder that it prints.
crash_input() {
    local folder=$CRASH_DIR/input/$1
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

# crash_run ID FILE: runs a built program on the input; its output goes to CRASH.log. The exit status is that of a
# shell: 128 + signal.
crash_run() {
    local id=$1 file=$2 folder arguments
    folder=$(crash_input "$id") || return 125
    mapfile -t arguments < <(crash_arguments "$id")
    (cd "$folder" && ulimit -c 0 -s 8192 &&
     ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
        timeout --foreground 60 "$file" "${arguments[@]}" < "$(crash_stdin "$id")") > "$folder.log" 2>&1
}

# crash_stack ID FILE TREE: runs it below gdb and prints four words: the signal, the innermost function whose
# source lies in TREE, the number of such frames, and how many different functions they are (at most 2000 frames
# are looked at). After them come the functions, innermost first, at most 40.
crash_stack() {
    local id=$1 file=$2 tree=$3 folder arguments
    folder=$(crash_input "$id") || return
    mapfile -t arguments < <(crash_arguments "$id")
    cat > "$folder.py" <<END
import gdb, os
tree = os.path.realpath("$tree") + "/"
for setting in ("pagination off", "confirm off", "startup-with-shell on", "print frame-arguments none"):
    gdb.execute("set " + setting)
gdb.execute("handle SIGALRM SIGCHLD SIGPIPE nostop noprint pass")
gdb.execute("run " + os.environ["CRASH_ARGUMENTS"] + " < $(crash_stdin "$id") > $folder.out 2>&1")
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
        timeout 120 gdb -nx -q -batch -x "$folder.py" "$file") 2> "$folder.gdb" < /dev/null |
        sed -n 's/^STACK //p'
}
