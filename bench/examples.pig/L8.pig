-- One group of all.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, (int)timespent AS timespent, (double)estimated_revenue AS estimated_revenue;
C = GROUP B ALL;
D = FOREACH C GENERATE SUM(B.timespent), AVG(B.estimated_revenue);
STORE D INTO '$OUT/L8';
