# For test scripts: TAP, and a fresh folder. Source it, write tests as calls of
# `ok NAME COMMAND…` (passes if the command does), end with `done_testing`.
set -u
count=0
work=$PWD            # tests/run gives each script an empty folder of its own
export SUNDEW=${SUNDEW:-$TOP/build/sundew}
unset MAKEFLAGS MAKELEVEL

ok() {
    local name=$1
    shift
    count=$((count + 1))
    if "$@" >"$work/.said" 2>&1; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        sed 's/^/# /' "$work/.said" | tail -n 40
    fi
}

skip() { count=$((count + 1)); echo "ok $count - $1 # SKIP $2"; }

# can_mount: a command after "--" can be given a private view of the project.
can_mount() { unshare -m true 2>/dev/null || unshare -Um true 2>/dev/null; }
# ok_mounted NAME COMMAND…: as ok, and left out where nothing can be mounted.
ok_mounted() { if can_mount; then ok "$@"; else skip "$1" "nothing can be mounted here"; fi; }
# needs_mounts WHAT: the rest of the script is left out where nothing can be mounted.
needs_mounts() {
    can_mount && return
    skip "$1" "nothing can be mounted here"
    done_testing
    exit
}

done_testing() { echo "1..$count"; }

# status N COMMAND…: it ends with exit status N.
status() {
    local want=$1
    shift
    "$@"
    local got=$?
    [ "$got" = "$want" ] || { echo "exit status $got, expected $want: $*"; return 1; }
}

# says TEXT COMMAND…: its output, of both kinds, contains the text.
says() {
    local text=$1 out
    shift
    out=$("$@" 2>&1)
    case $out in
        *"$text"*) return 0 ;;
    esac
    printf 'expected to read: %s\nbut read:\n%s\n' "$text" "$out"
    return 1
}

# fresh NAME: an empty folder, and in it.
fresh() { cd "$work" && rm -rf "$1" && mkdir "$1" && cd "$1"; }
