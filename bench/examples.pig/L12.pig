-- Three outputs.
A = LOAD '$ROOT/page_views' USING org.apache.pig.test.udf.storefunc.PigPerformanceLoader() AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, action, (int)timespent AS timespent, query_term, (double)estimated_revenue AS estimated_revenue;
SPLIT B INTO C IF user IS NOT NULL, alpha IF user IS NULL;
SPLIT C INTO D IF query_term IS NOT NULL, aleph IF query_term IS NULL;
E = GROUP D BY user PARALLEL $PARALLEL;
F = FOREACH E GENERATE group, MAX(D.estimated_revenue);
STORE F INTO '$OUT/highest_value_page_per_user';
beta = GROUP alpha BY query_term PARALLEL $PARALLEL;
gamma = FOREACH beta GENERATE group, SUM(alpha.timespent);
STORE gamma INTO '$OUT/total_timespent_per_term';
beth = GROUP aleph BY action PARALLEL $PARALLEL;
gimel = FOREACH beth GENERATE group, COUNT(aleph);
STORE gimel INTO '$OUT/queries_per_action';
