-- Several distinct aggregates.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, action, estimated_revenue, timespent;
C = GROUP B BY user PARALLEL $PARALLEL;
D = FOREACH C {
    beth = DISTINCT B.action;
    rev = DISTINCT B.estimated_revenue;
    ts = DISTINCT B.timespent;
    GENERATE group, COUNT(beth), SUM(rev), (int)AVG(ts);
};
STORE D INTO '$OUT/L15';
