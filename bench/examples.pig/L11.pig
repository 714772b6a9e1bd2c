-- Distinct and union; one table without a schema.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user;
C = DISTINCT B PARALLEL $PARALLEL;
alpha = LOAD '$ROOT/widerow' USING PigStorage('\u0001');
beta = FOREACH alpha GENERATE $0 AS name;
gamma = DISTINCT beta PARALLEL $PARALLEL;
D = UNION C, gamma;
E = DISTINCT D PARALLEL $PARALLEL;
STORE E INTO '$OUT/L11';
