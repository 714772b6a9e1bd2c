# make demo and make check where much is forbidden: in a chroot that may mount nothing and has no
# user namespaces, as an ordinary user, without /dev/shm and npm. Each ends well, and says what it
# left out. SUNDEW_BARE_TESTS: only these tests.
. "$TOP/tests/scripts/tap.bash"
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
    skip "make check where much is forbidden" "this needs root and mounts to forbid them"
    done_testing
    exit
fi
tests=${SUNDEW_BARE_TESTS:-}
log=$work/log

# A copy that anybody may write, outside of the repository; with what is built.
copy=$(mktemp -d /tmp/sundew-bare.XXXXXX)
trap 'rm -rf "$copy"' EXIT
chmod 755 "$copy"
git -C "$TOP" ls-files -z | (cd "$TOP" && tar --null -T - -cf -) | tar -C "$copy" -xf -
cp -a "$SUNDEW_BUILD" "$copy/build"
chown -R 65534:65534 "$copy"

# in_chroot COMMAND…: a root that is no mount point, without the right to mount. User namespaces
# are refused to who is in a chroot.
in_chroot() {
    unshare -m bash -c '
        root=$(mktemp -d /tmp/sundew-root.XXXXXX)
        mount --rbind / "$root" &&
        exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin chroot "$root" "$@"' bash "$@"
}
# Words, not a function: chroot starts them too.
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# No shared memory, no npm.
without_shm() { unshare -m bash -c 'mount -t tmpfs -o ro,size=4k none /dev/shm && PATH=$(tr : "\n" <<<"$PATH" | while read -r d; do [ -x "$d/npm" ] || printf "%s:" "$d"; done)/usr/bin exec "$@"' bash "$@"; }

# ends_well WHERE…: make demo, then make check.
demo() { "$@" env HOME="$copy" TMPDIR=/tmp make -C "$copy" NODEPS=1 demo; }
check() {
    "$@" env HOME="$copy" TMPDIR=/tmp make -C "$copy" NODEPS=1 check TESTS="$tests" >"$log" 2>&1
    local got=$?
    grep -E "FAILED|passed," "$log"
    [ $got = 0 ]
}
everywhere() {      # everywhere NAME WHERE…
    local name=$1
    shift
    ok "$name: make demo" demo "$@"
    ok "$name: make check" check "$@"
    sed -n 's/^\([0-9]* passed.*\)/# '"$name"': \1/p; s/^SKIPPED */#   left out: /p' "$log"
    chown -R 65534:65534 "$copy"
}

everywhere "a chroot that may not mount" in_chroot
everywhere "an ordinary user" "${as_nobody[@]}"
everywhere "an ordinary user in a chroot" in_chroot "${as_nobody[@]}"
everywhere "no shared memory, no npm" without_shm
done_testing
