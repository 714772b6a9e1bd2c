-- Order inside groups.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, estimated_revenue;
C = GROUP B BY user PARALLEL $PARALLEL;
D = FOREACH C {
    E = ORDER B BY estimated_revenue;
    F = E.estimated_revenue;
    GENERATE group, SUM(F);
};
STORE D INTO '$OUT/L16';
