# web, long: 500 random PHP programs, php-src's own tests with the extension in
# three modes, an application on MariaDB with its server killed in between.
. "$TOP/tests/scripts/tap.bash"
so=$SUNDEW_BUILD/php/sundew.so
if [ ! -f "$so" ]; then
    skip "PHP applications" "the PHP extension is not built (tools/install-deps web)"
    done_testing
    exit 0
fi
ok "500 random programs print the same" python3 "$TOP/tests/scripts/php-programs.py" php-cgi8.2 "$so" 500 42

# ---- php-src's own tests, from Debian's source package
. "$TOP/bench/lib.sh"
if source=$(bench_source php8.2); then
    cp -a "$source" src
    engine() {
        local mode=$1 extension=(-d "extension=$so")
        [ "$mode" = none ] && extension=()
        (cd src && SUNDEW_WEB_MODE=$mode NO_INTERACTION=1 TEST_PHP_EXECUTABLE=$(command -v php8.2) \
            php8.2 -n run-tests.php -n -q -j2 "${extension[@]}" --set-timeout 120 Zend/tests tests/lang tests/classes >"../$mode.log" 2>&1)
        sed -n '/^FAILED TEST SUMMARY/,/^=====/p' "$mode.log" | sed -n 's/.*\[\(.*\)\].*/\1/p' | sort >"$mode.failed"
        grep -q '^Tests passed' "$mode.log"
    }
    ok "php-src's tests without the extension" engine none
    for mode in on force random; do
        ok "…mode $mode" engine $mode
        ok "…no new failure in mode $mode" sh -c "comm -13 none.failed $mode.failed | tee new; test ! -s new"
    done
else
    skip "php-src's own tests" "its Debian source package can't be got"
fi

# ---- MariaDB
if command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ]; then
    fresh mysql
    mkdir app
    cat >app/index.php <<'P'
<!DOCTYPE html>
<html><head><title>Notes</title></head><body>
<?php
$db = mysqli_connect('db.example.com', 'anybody', 'any', 'notes');
if (($_POST['text'] ?? '') !== '') {
    $q = mysqli_prepare($db, 'INSERT INTO note (text) VALUES (?)');
    mysqli_stmt_bind_param($q, 's', $_POST['text']);
    mysqli_stmt_execute($q);
}
$n = mysqli_fetch_row(mysqli_query($db, 'SELECT count(*) FROM note'))[0];
if ($n == 2)
    trigger_error('two notes', E_USER_WARNING);
$first = mysqli_fetch_assoc(mysqli_query($db, 'SELECT text FROM note ORDER BY id LIMIT 1'));
if ($first && $first['text'] === 'secret word')
    trigger_error('reached text', E_USER_WARNING);
echo '<p>', $n, ' notes</p>';
?>
<form method="post" action="index.php"><p><input name="text"><input type="submit" value="Add"></p></form>
</body></html>
P
    echo 'CREATE TABLE note (id INT PRIMARY KEY AUTO_INCREMENT, text TEXT) ENGINE=InnoDB;' >notes.sql
    ok "a database is state: the second note is seen" says "two notes" "$SUNDEW" -w ws web app --db mysql:notes.sql --time 60s --depth 4
    ok "…and what an earlier request put into it is turned around" says "reached text" "$SUNDEW" -w ws web app --db mysql:notes.sql --time 60s --depth 4
    killed() {
        "$SUNDEW" -w ws2 web app --db mysql:notes.sql --time 15s --strategy mutate --json >out.json 2>err &
        local sundew=$! server status
        sleep 4
        server=$(pgrep -P "$sundew" mariadbd)
        [ -n "$server" ] || { echo "no server"; return 1; }
        kill -9 "$server"
        sleep 3
        pgrep -P "$sundew" mariadbd >second
        wait "$sundew"
        status=$?
        [ $status -le 1 ] && test -s second && python3 -c 'import json; assert json.load(open("out.json"))["requests"] > 20'
    }
    ok "a server that is killed is started again" killed
    ok "…and none is left" sh -c '! kill -0 "$(cat second)"'
else
    skip "MariaDB" "it is not installed (tools/install-deps web)"
fi
done_testing
