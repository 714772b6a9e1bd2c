-- Maps, and a bag that is cast and flattened.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, (int)action AS action, (map[])page_info AS page_info, FLATTEN((bag{tuple(map[])})page_links) AS page_links;
C = FOREACH B GENERATE user, (action == 1 ? page_info#'a' : page_links#'b') AS header;
D = GROUP C BY user PARALLEL $PARALLEL;
E = FOREACH D GENERATE group, COUNT(C) AS cnt;
STORE E INTO '$OUT/L1';
