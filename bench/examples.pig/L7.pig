-- Two filters inside groups.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, timestamp;
C = GROUP B BY user PARALLEL $PARALLEL;
D = FOREACH C {
    morning = FILTER B BY timestamp < 43200;
    afternoon = FILTER B BY timestamp >= 43200;
    GENERATE group, COUNT(morning), COUNT(afternoon);
};
STORE D INTO '$OUT/L7';
