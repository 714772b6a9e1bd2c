-- A wide group key.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, action, (int)timespent AS timespent, query_term, ip_addr, timestamp;
C = GROUP B BY (user, query_term, ip_addr, timestamp) PARALLEL $PARALLEL;
D = FOREACH C GENERATE FLATTEN(group), SUM(B.timespent);
STORE D INTO '$OUT/L6';
