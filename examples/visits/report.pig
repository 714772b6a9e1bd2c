-- Which countries spend how much, without the orders of our own testers.
orders = LOAD 'orders' USING PigStorage(',') AS (id:int, customer:chararray, amount:double, status:chararray);
customers = LOAD 'customers' USING PigStorage(',') AS (name:chararray, country:chararray, role:chararray);

paid = FILTER orders BY status == 'paid' AND amount > 0.0;
joined = JOIN paid BY customer LEFT OUTER, customers BY name;

-- The defect: an order of a customer who is not in the table has no role. The
-- comparison is null then, not true, and the order is lost without a word.
real = FILTER joined BY customers::role != 'tester';

grouped = GROUP real BY customers::country;
totals = FOREACH grouped GENERATE group AS country, SUM(real.paid::amount) AS spent;
large = FILTER totals BY spent >= 100.0;
sorted = ORDER large BY spent DESC;
STORE sorted INTO 'spending';
