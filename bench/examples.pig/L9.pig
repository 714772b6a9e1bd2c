-- Order by one key.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = ORDER A BY query_term PARALLEL $PARALLEL;
STORE B INTO '$OUT/L9';
