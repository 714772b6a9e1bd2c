-- A join with a small table.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, estimated_revenue;
alpha = LOAD '$ROOT/power_users' USING PigStorage('\u0001') AS (name, phone, address, city, state, zip);
beta = FOREACH alpha GENERATE name;
C = JOIN B BY user, beta BY name USING 'replicated' PARALLEL $PARALLEL;
STORE C INTO '$OUT/L2';
