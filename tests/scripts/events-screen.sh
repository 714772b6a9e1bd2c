# A program that is woven for events looks the same at a terminal: the screens of the plain and the
# woven program are compared through tmux.
. "$TOP/tests/scripts/tap.bash"
fresh project
cp "$TOP/tests/subjects/events/curses.c" .
if ! command -v tmux >/dev/null; then
    skip "a woven curses program looks the same" "tmux is missing"
    done_testing
    exit 0
fi
ok "a curses program is captured" "$SUNDEW" capture -- gcc -g -DQUITS -o quits curses.c -lncurses
ok "it is searched" "$SUNDEW" events ./quits -k1 -j1

# screens PROGRAM KEY…: what is on the screen before and after each key.
screens() {
    local program=$1 key socket="$work/socket"
    shift
    tmux -S "$socket" -f /dev/null new-session -d -x 80 -y 24 "$program" || return 1
    shows "$socket" "state 0" || return 1
    for key in "$@"; do
        tmux -S "$socket" send-keys "${key%:*}" || return 1
        shows "$socket" "state ${key#*:}" || return 1
    done
    tmux -S "$socket" kill-server
}
# Waits until the text is there: by looking, not by time. Then the whole screen is printed.
shows() {
    local i
    for ((i = 0; i < 600; i++)); do
        if tmux -S "$1" capture-pane -p | grep -q "$2"; then
            tmux -S "$1" capture-pane -p
            return 0
        fi
        sleep 0.1
    done
    echo "no '$2' on the screen"
    tmux -S "$1" capture-pane -p
    return 1
}
same() {
    local woven
    woven=$(ls "$PWD"/.sundew/linked/*.events-watched) || return 1
    screens "$PWD/quits" p:1 x:0 s:2 a:2 x:0 >plain.txt || { cat plain.txt; return 1; }
    screens "$woven" p:1 x:0 s:2 a:2 x:0 >woven.txt || { cat woven.txt; return 1; }
    [ "$(grep -c state plain.txt)" = 6 ] && diff plain.txt woven.txt
}
ok "the woven program shows the same screens" same
done_testing
