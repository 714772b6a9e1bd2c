-- An anti-join.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user;
alpha = LOAD '$ROOT/users' USING PigStorage('\u0001') AS (name, phone, address, city, state, zip);
beta = FOREACH alpha GENERATE name;
C = COGROUP beta BY name, B BY user PARALLEL $PARALLEL;
D = FILTER C BY COUNT(beta) == 0;
E = FOREACH D GENERATE group;
STORE E INTO '$OUT/L5';
