-- Order by three keys.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent:int, query_term, ip_addr, timestamp, estimated_revenue:double, page_info, page_links);
B = ORDER A BY query_term, estimated_revenue DESC, timespent PARALLEL $PARALLEL;
STORE B INTO '$OUT/L10';
