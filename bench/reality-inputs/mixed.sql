create table t(a integer primary key, b text, c real);
create index ti on t(b, c desc);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
  insert into t select i, 'row ' || (i % 17), i / 3.0 from n;
select count(*), sum(c), group_concat(distinct b) from t where b like 'row 1%' group by a % 5 having count(*) > 2 order by 2;
create view v as select b, row_number() over (partition by b order by a) r from t;
select * from v where r = 3 order by b limit 5;
create trigger tr after update on t when new.c < 0 begin delete from t where a = new.a; end;
update t set c = -1 where a % 10 = 0;
begin; delete from t where a > 200; rollback;
create virtual table f using fts5(x);
insert into f select b from t;
select count(*) from f where f match 'row';
create virtual table r using rtree(id, x0, x1);
insert into r select a, c, c + 1 from t;
select count(*) from r where x0 > 10 and x1 < 50;
select json_extract('{"a":[1,{"b":2}]}', '$.a[1].b'), printf('%05d|%s|%.3f', 7, 'x', 1.5), hex(zeroblob(3));
select name, sql from sqlite_master order by name;
explain query plan select * from t join f on t.b = f.x where t.a in (select id from r);
attach ':memory:' as other; create table other.z as select * from t; detach other;
pragma integrity_check; vacuum; analyze; reindex;
.mode csv
.headers on
select * from t limit 3;
.schema t
.dump r
