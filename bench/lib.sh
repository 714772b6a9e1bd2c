# shellcheck shell=bash
# What all benchmark scripts share: getting a Debian source by its name, a fresh copy of a tree, timing.
# Source this file from bash; it runs nothing by itself.

# Nothing of what is fetched or built here belongs in the repository, so it lives in a cache folder:
#   src/NAME-VERSION/   unpacked sources, never built in; src/NAME links to the one in use
#   apt/                the index of source packages, apart from the system's own lists
BENCH_DIR=${SUNDEW_BENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sundew-bench}

bench_say() { printf '%s\n' "$*" >&2; }
bench_die() { bench_say "${0##*/}: $*"; exit 2; }

# apt with its own lists, so that neither root nor a change to /etc/apt is needed to read source packages.
bench_apt() {
    local apt=$BENCH_DIR/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" || return
    "$1" -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
         -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" \
         -o APT::Sandbox::User="$(id -un)" "${@:2}"
}

# The machine already knows where its Debian packages come from. The same places hold the sources: every index of
# binary packages whose origin is Debian gives one deb-src line, in the machine's order.
# shellcheck disable=SC2016  # apt fills these in, not the shell
bench_apt_update() {
    mkdir -p "$BENCH_DIR/apt" || return
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' | awk '!seen[$0]++' > "$BENCH_DIR/apt/sources.list"
    [ -s "$BENCH_DIR/apt/sources.list" ] || { bench_say "no Debian index on this machine; run apt-get update"; return 1; }
    bench_apt apt-get -qq update >&2
}

# bench_versions NAME: the versions that the index knows of a source package, newest first. A binary package's name
# does too, as with apt-get source.
bench_versions() {
    local -a versions
    local i j swap
    mapfile -t versions < <(bench_apt apt-cache showsrc "$1" 2>/dev/null |
                            sed -n 's/^Version: //p' | sort -u)
    for ((i = 0; i < ${#versions[@]}; i++)); do
        for ((j = i + 1; j < ${#versions[@]}; j++)); do
            dpkg --compare-versions "${versions[j]}" gt "${versions[i]}" || continue
            swap=${versions[i]} versions[i]=${versions[j]} versions[j]=$swap
        done
    done
    [ ${#versions[@]} = 0 ] || printf '%s\n' "${versions[@]}"
}

# bench_source NAME: the folder with the unpacked, pristine source of a Debian source package. Debian's patches are
# applied. Asks the network only for a package that is not in the cache. A mirror may know a version without
# holding it (a security update just out), so an older one will do.
bench_source() {
    local name=$1 src=$BENCH_DIR/src version tree tmp
    if [ ! -e "$src/$name/." ]; then
        mkdir -p "$src" || return
        [ -s "$BENCH_DIR/apt/sources.list" ] || bench_apt_update || return
        for version in $(bench_versions "$name"); do
            tree=$name-${version#*:}          # without the epoch: a colon in a path breaks PATH and make
            tmp=$(mktemp -d "$src/.fetch.XXXXXX") || return
            if (cd "$tmp" && bench_apt apt-get -qq source --download-only "$name=$version" &&
                dpkg-source --no-check -x ./*.dsc tree) > "$tmp/log" 2>&1
            then
                rm -rf "${src:?}/$tree"
                mv "$tmp/tree" "$src/$tree" && ln -sfn "$tree" "$src/$name"
                rm -rf "$tmp"
                break
            fi
            sed "s/^/$name $version: /" "$tmp/log" >&2
            rm -rf "$tmp"
        done
    fi
    [ -e "$src/$name/." ] || { bench_say "no Debian source package named $name could be fetched"; return 1; }
    (cd -P "$src/$name" && pwd)
}

# bench_fresh FROM TO: TO becomes a new copy of the tree FROM. Times are kept: make decides by them, and a
# configure that looks older than its configure.ac would be made anew.
bench_fresh() {
    rm -rf "$2" && mkdir -p "$2" && cp -a "$1/." "$2/"
}

# bench_seconds FILE COMMAND…: runs the command and writes two numbers into FILE: its wall-clock seconds and the
# processor seconds of all its processes. Keeps the command's exit status.
bench_seconds() {
    local file=$1 TIMEFORMAT='%3R %3U %3S' status
    shift
    { time "$@" 2>&3; } 3>&2 2> "$file.raw"
    status=$?
    awk '{ printf "%.2f %.2f\n", $1, $2 + $3 }' "$file.raw" > "$file"
    rm -f "$file.raw"
    return $status
}

# bench_calc EXPRESSION: a decimal number, or - where it has none (a division by zero, say).
bench_calc() {
    awk "BEGIN { printf \"%.2f\", $1 }" 2>/dev/null || printf -- -
}
