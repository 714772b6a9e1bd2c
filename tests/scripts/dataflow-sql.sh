# SQL: the command, and its rows and answers held against SQLite.
. "$TOP/tests/scripts/tap.bash"
check=$SUNDEW_BUILD/tests/sqlcheck
cat >schema.sql <<'EOF'
CREATE TABLE customer (id int PRIMARY KEY, name varchar(20) NOT NULL, city text, since date);
CREATE TABLE orders (
  id int PRIMARY KEY,
  customer int NOT NULL REFERENCES customer (id),
  total numeric(10,2) CHECK (total > 0),
  status text DEFAULT 'open' CHECK (status IN ('open', 'paid', 'sent'))
);
EOF
cat >query.sql <<'EOF'
SELECT c.city, count(*) AS n, sum(o.total) AS total
FROM customer c
LEFT JOIN orders o ON o.customer = c.id
WHERE c.since >= '2020-01-01'
GROUP BY c.city
HAVING count(o.id) > 1
ORDER BY total DESC, c.city
EOF
printf 'SELECT id FROM customer WHERE since > 5 AND\n  nix = 3\n' >bad.sql
printf 'SELECT id FROM orders WHERE total < 0\n' >dead.sql
printf 'SELECT id FROM orders WHERE total < 5\n' >alive.sql
run() { "$SUNDEW" -w ws examples "$@"; }

if ! run query.sql --schema schema.sql >out 2>err; then
    if grep -q libpg-query-dev err; then
        ok "without the parser it says what to install" status 2 "$SUNDEW" -w ws examples query.sql
        done_testing
        exit
    fi
fi
ok "tables step by step" grep -q "^LEFT JOIN orders o ON o.customer = c.id   (line 3)" out
ok "every class is shown" grep -q "^completeness 1.00" out
ok "rows are INSERTs" grep -q "^INSERT INTO orders (id, customer, total, status) VALUES" out
ok "parents come first" sh -c 'grep "^INSERT" out | head -n 1 | grep -q "INTO customer"'
ok "SQLite has the same answer" "$check" schema.sql query.sql
ok "an error has line, column and reason" says "bad.sql:2:3: there is no column nix" "$SUNDEW" -w ws examples bad.sql --schema schema.sql
ok "…and status 2" status 2 "$SUNDEW" -w ws examples bad.sql --schema schema.sql
ok "a query without a schema is told to bring one" says "give its CREATE TABLE with --schema" "$SUNDEW" -w ws examples query.sql
ok "a condition against a CHECK is dead" says "no row can pass" "$SUNDEW" -w ws examples dead.sql --schema schema.sql
ok "…its twin is not" status 0 "$SUNDEW" -w ws examples alive.sql --schema schema.sql
cat >short.sql <<'EOF'
CREATE TABLE short (code char(1) PRIMARY KEY, kind char(1), born date);
EOF
echo "SELECT kind, count(*) FROM short WHERE code = '' OR born < '1950-01-01' GROUP BY kind ORDER BY kind" >letters.sql
ok "one letter, the empty text and old dates are found" says "completeness 1.00" "$SUNDEW" -w ws examples letters.sql --schema short.sql
echo "SELECT kind FROM short WHERE code = 'a' ORDER BY kind" >one.sql
ok "a key has one row: two are proved impossible" says "two rows differ   impossible" "$SUNDEW" -w ws examples one.sql --schema short.sql
echo "CREATE TABLE depth (id int PRIMARY KEY, metres int DEFAULT -1 CHECK (metres > -11000), zone numeric(5,2));" >depth.sql
echo "SELECT id FROM depth WHERE metres < -10990 AND zone = -5 AND metres IN (- 10995, -(10996)) ORDER BY id" >deep.sql
ok "negative numbers" sh -c '"$SUNDEW" -w ws examples deep.sql --schema depth.sql | grep -Eq "^  \(.*, -1099[56], -5.0\)"'
ok "…SQLite has the same answer" "$check" depth.sql deep.sql
echo "SELECT id FROM depth WHERE metres < -10999" >deepest.sql
ok "…none is below what a CHECK allows" says "no row can pass" "$SUNDEW" -w ws examples deepest.sql --schema depth.sql
echo "SELECT id, metres FROM depth WHERE 10 / metres > 0" >share.sql
mkdir -p depths && printf 'id,metres,zone\n1,0,1\n2,3,1\n' >depths/depth.csv
ok "a division by zero would end the query" says "division by zero ends the query" "$SUNDEW" -w ws examples share.sql --schema depth.sql --measure depths
ok "…is not one of the examples" sh -c '! "$SUNDEW" -w ws examples share.sql --schema depth.sql --data depths | grep -E "^  \([0-9]+, 0,|ends the query"'
ok "…and is null in SQLite" sh -c '! "$SUNDEW" -w ws examples share.sql --schema depth.sql --measure depths --dialect sqlite | grep "ends the query"'
echo "SELECT max(metres) FROM depth ORDER BY 1 LIMIT 5" >highest.sql
ok "a sum without groups has one row: no LIMIT cuts it" says "more rows than the limit   impossible" "$SUNDEW" -w ws examples highest.sql --schema depth.sql
ok "…and nothing is left open" says "sundew: complete" "$SUNDEW" -w ws examples highest.sql --schema depth.sql
echo "SELECT a.n, b.n FROM (SELECT count(*) AS n FROM depth) a, (SELECT max(id) AS n FROM depth) b ORDER BY 1" >pair.sql
ok "…nor two of them side by side" says "sundew: complete" "$SUNDEW" -w ws examples pair.sql --schema depth.sql
echo "CREATE TABLE trip (id int PRIMARY KEY, asked date, given date, days int);" >trip.sql
echo "SELECT id FROM trip WHERE given > asked + 5 AND given < asked + days AND asked - 3 > '2020-01-01' AND 2 + asked < '2020-01-08'" >late.sql
ok "a date and a number are days" sh -c '"$SUNDEW" -w ws examples late.sql --schema trip.sql | grep -q ".2020-01-05., .2020-01-1[0-9]., [0-9]*)"'
cat >above.sql <<'EOF'
SELECT d.zone, count(*) FROM depth d
WHERE d.metres > 2 * (SELECT avg(e.metres) FROM depth e WHERE e.zone = d.zone) AND d.metres < (SELECT DISTINCT f.metres FROM depth f WHERE f.zone = 7)
GROUP BY d.zone HAVING count(*) >= 3
EOF
ok "subqueries see the rows that are asked for" says "completeness 1.00" "$SUNDEW" -w ws examples above.sql --schema depth.sql
ok "…SQLite has the same answer" "$check" depth.sql above.sql
cat >films.sql <<'EOF'
CREATE TABLE firm (id int PRIMARY KEY, name text, kind text);
CREATE TABLE film (id int PRIMARY KEY, firm int REFERENCES firm (id), title text, note text);
EOF
cat >films-query.sql <<'EOF'
SELECT min(film.title) FROM film, firm
WHERE film.firm = firm.id AND (firm.name LIKE '%Film%' OR firm.name LIKE '%Warner%') AND firm.kind = 'production companies'
  AND film.note LIKE '%(Japan)%' AND film.note NOT LIKE '%(USA)%' AND (film.note LIKE '%(2006)%' OR film.note LIKE '%(2007)%')
  AND (film.title LIKE 'One Piece%' OR film.title LIKE 'Dragon Ball Z%') AND film.title NOT LIKE '%Yu%'
EOF
ok "many patterns of many columns: each column has its own" says "completeness 1.00" "$SUNDEW" -w ws examples films-query.sql --schema films.sql
sed 's/(2006)/(USA)/;s/(2007)/a(USA)/' films-query.sql >films-never.sql
ok "…what none of its texts can be is not shown" says "row passes   " "$SUNDEW" -w ws examples films-never.sql --schema films.sql
cat >stock.sql <<'EOF'
CREATE TABLE item (
  shelf smallint NOT NULL, place int NOT NULL, price real NOT NULL, share real NOT NULL CHECK (share >= 0 AND share <= 1),
  asked date NOT NULL, given date NOT NULL, PRIMARY KEY (shelf, place)
);
EOF
echo "SELECT shelf FROM item WHERE shelf > 40000" >wide.sql
echo "SELECT shelf FROM item WHERE shelf > 30000" >narrow.sql
ok "a smallint has two bytes" says "no row can pass" "$SUNDEW" -w ws examples wide.sql --schema stock.sql
ok "…in SQLite it has eight" says "completeness 1.00" "$SUNDEW" -w ws examples wide.sql --schema stock.sql --dialect sqlite
ok "…and its twin is found" says "completeness 1.00" "$SUNDEW" -w ws examples narrow.sql --schema stock.sql
cat >worth.sql <<'EOF'
SELECT shelf, sum(price * (1 - share)) AS worth, sum(price / share) AS much
FROM item WHERE share > 0 GROUP BY shelf HAVING sum(price * share) > 7 ORDER BY worth DESC
EOF
ok "sums of products of two columns" says "completeness 1.00" "$SUNDEW" -w ws examples worth.sql --schema stock.sql
ok "…and SQLite has the same answer" "$check" stock.sql worth.sql
cat >alone.sql <<'EOF'
SELECT count(*) AS late FROM item i
WHERE i.given > i.asked AND EXISTS (SELECT 1 FROM item j WHERE j.shelf = i.shelf AND j.place <> i.place)
  AND NOT EXISTS (SELECT 1 FROM item k WHERE k.shelf = i.shelf AND k.place <> i.place AND k.given > k.asked)
GROUP BY i.asked ORDER BY late DESC, i.asked
EOF
sed 's/i[.]asked ORDER.*/i.shelf/' alone.sql >never.sql
ok "no row may be what NOT EXISTS forbids" says "completeness 1.00" "$SUNDEW" -w ws examples alone.sql --schema stock.sql
ok "…and SQLite has the same answer" "$check" stock.sql alone.sql
ok "…and two of one shelf are impossible" says "a group has two rows   impossible" "$SUNDEW" -w ws examples never.sql --schema stock.sql
cat >both.sql <<'EOF'
SELECT count(*) FROM (SELECT city FROM customer WHERE name = 'ann' INTERSECT SELECT city FROM customer WHERE name = 'bob') AS x
EOF
ok "INTERSECT gives each row once" says "completeness 1.00" "$SUNDEW" -w ws examples both.sql --schema schema.sql
ok "…and SQLite has the same answer" "$check" schema.sql both.sql
cat >far-schema.sql <<'EOF'
CREATE TABLE sale (id int PRIMARY KEY, buyer int, price int);
CREATE TABLE buyer (id int PRIMARY KEY, home int);
CREATE TABLE home (id int PRIMARY KEY, zip text);
EOF
echo "SELECT zip, sum(price) FROM sale, buyer, home WHERE sale.buyer = buyer.id AND buyer.home = home.id GROUP BY zip ORDER BY zip LIMIT 100" >far.sql
ok "a hundred groups across joins that no foreign key tells" says "sundew: complete" "$SUNDEW" -w ws examples far.sql --schema far-schema.sql
ok "…and SQLite has the same answer" "$check" far-schema.sql far.sql
cat >anti-schema.sql <<'EOF'
CREATE TABLE sold (id int PRIMARY KEY, item int NOT NULL, n int);
CREATE TABLE back (id int PRIMARY KEY, sold int, item int);
CREATE TABLE web (id int PRIMARY KEY, item int NOT NULL, n int);
EOF
cat >anti.sql <<'EOF'
SELECT s.item, s.n, w.n FROM (SELECT sold.item, sum(n) AS n FROM sold LEFT JOIN back ON back.sold = sold.id WHERE back.id IS NULL GROUP BY sold.item) s
LEFT JOIN (SELECT item, sum(n) AS n FROM web GROUP BY item) w ON w.item = s.item
WHERE coalesce(w.n, 0) > 0 ORDER BY 1
EOF
ok "one outer join without a partner, another with one" says "sundew: complete" "$SUNDEW" -w ws examples anti.sql --schema anti-schema.sql
ok "…and SQLite has the same answer" "$check" anti-schema.sql anti.sql
echo "SELECT item, count(*) FROM sold WHERE EXISTS (SELECT 1 FROM back WHERE back.sold = sold.id) AND id IN (SELECT web.id FROM web WHERE web.n > 3) GROUP BY item ORDER BY item LIMIT 50" >served.sql
ok "fifty groups whose rows a subquery must find" says "sundew: complete" "$SUNDEW" -w ws examples served.sql --schema anti-schema.sql
ok "…and SQLite has the same answer" "$check" anti-schema.sql served.sql
echo "CREATE TABLE sold (id int PRIMARY KEY, item int NOT NULL, day date NOT NULL, n int NOT NULL);" >win-schema.sql
echo "SELECT item, n FROM (SELECT item, n, avg(n) OVER (PARTITION BY item) AS mean, rank() OVER (PARTITION BY item ORDER BY n DESC) AS place FROM sold) x WHERE n > 1.5 * mean AND mean > 10" >mean.sql
echo "SELECT item, day FROM (SELECT item, day, n, lag(n) OVER (PARTITION BY item ORDER BY day) AS last, rank() OVER (PARTITION BY item ORDER BY day) AS place FROM sold) x WHERE n > last + 5 AND place = 2" >lag.sql
echo "SELECT item, total FROM (SELECT item, day, sum(n) AS total, avg(sum(n)) OVER (PARTITION BY item) AS mean FROM sold GROUP BY item, day) x WHERE CASE WHEN mean > 0 THEN abs(total - mean) / mean END > 0.1 ORDER BY total" >share-of-mean.sql
for q in mean lag share-of-mean; do
    ok "two rows of one partition: $q" says "sundew: complete" "$SUNDEW" -w ws examples $q.sql --schema win-schema.sql
    ok "…and SQLite has the same answer" "$check" win-schema.sql $q.sql
done
cat >many-schema.sql <<'EOF'
CREATE TABLE line (item int NOT NULL, ticket int NOT NULL, day int NOT NULL, PRIMARY KEY (item, ticket));
CREATE TABLE house (id int PRIMARY KEY, cars int, deps int, kind text);
EOF
echo "SELECT ticket FROM line GROUP BY ticket HAVING count(*) BETWEEN 90 AND 95" >many.sql
ok "ninety rows of a group whose key is a part of the primary key" says "sundew: complete" "$SUNDEW" -w ws examples many.sql --schema many-schema.sql
ok "…and SQLite has the same answer" "$check" many-schema.sql many.sql
echo "SELECT kind FROM house WHERE cars > 0 AND (CASE WHEN cars > 0 THEN deps / cars ELSE NULL END) > 1.2 GROUP BY kind HAVING count(*) >= 3 ORDER BY kind" >cars.sql
ok "whole numbers divided by one that is not known" says "sundew: complete" "$SUNDEW" -w ws examples cars.sql --schema many-schema.sql --time 120s
ok "…and SQLite has the same answer" "$check" many-schema.sql cars.sql
cat >rev-schema.sql <<'EOF'
CREATE TABLE sales (item int NOT NULL, ticket int NOT NULL, store int, day int, price numeric(7,2), PRIMARY KEY (item, ticket));
CREATE TABLE days (id int PRIMARY KEY, month int);
CREATE TABLE stores (id int PRIMARY KEY, name text);
EOF
cat >rev.sql <<'EOF'
SELECT name, sc.revenue FROM stores,
  (SELECT store, avg(revenue) AS ave FROM (SELECT store, item, sum(price) AS revenue FROM sales, days WHERE day = days.id AND month BETWEEN 1212 AND 1223 GROUP BY store, item) sa GROUP BY store) sb,
  (SELECT store, item, sum(price) AS revenue FROM sales, days WHERE day = days.id AND month BETWEEN 1212 AND 1223 GROUP BY store, item) sc
WHERE sb.store = sc.store AND sc.revenue <= 0.1 * sb.ave AND stores.id = sc.store
ORDER BY name LIMIT 100
EOF
ok "a hard last class leaves time for the others, and they help it" says "sundew: complete" "$SUNDEW" -w ws examples rev.sql --schema rev-schema.sql --time 60s
ok "…and SQLite has the same answer" "$check" rev-schema.sql rev.sql
run query.sql --schema schema.sql --tests tests >/dev/null 2>&1
ok "a dbt test is written" sh -c 'grep -q "^unit_tests:" tests/query.yml && grep -q "input: ref(.orders.)" tests/query.yml'
ok "…that YAML can be read" python3 -c '
import sys
try:
    import yaml
except ImportError:
    sys.exit(0)
t = yaml.safe_load(open("tests/query.yml"))["unit_tests"][0]
assert t["model"] == "query" and len(t["given"]) == 2 and t["expect"]["rows"], t'
ok "…and the test passes" status 0 "$SUNDEW" -w ws examples query.sql --schema schema.sql --check tests
ok "a hundred and fifty random queries agree with SQLite" "$check" --random 11 150
ok "queries of the wholesaler agree with SQLite" "$check" "$TOP/bench/examples.sql/schema.sql" \
    "$TOP"/bench/examples.sql/q01.sql "$TOP"/bench/examples.sql/q06.sql "$TOP"/bench/examples.sql/q16.sql
done_testing
