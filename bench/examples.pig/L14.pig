-- A join of sorted tables.
A = LOAD '$ROOT/page_views_sorted' USING PigStorage('\u0001') AS (user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links);
B = FOREACH A GENERATE user, estimated_revenue;
alpha = LOAD '$ROOT/users_sorted' USING PigStorage('\u0001') AS (name, phone, address, city, state, zip);
beta = FOREACH alpha GENERATE name;
C = JOIN B BY user, beta BY name USING 'merge';
STORE C INTO '$OUT/L14';
