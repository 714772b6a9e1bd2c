-- A join, then sums.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, (double)estimated_revenue;
alpha = LOAD '$ROOT/users' USING PigStorage('\u0001') AS (name, phone, address, city, state, zip);
beta = FOREACH alpha GENERATE name;
C = JOIN beta BY name, B BY user PARALLEL $PARALLEL;
D = GROUP C BY $0 PARALLEL $PARALLEL;
E = FOREACH D GENERATE group, SUM(C.estimated_revenue);
STORE E INTO '$OUT/L3';
