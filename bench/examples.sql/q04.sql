-- How many orders of a quarter had a line that came late.
SELECT o.priority, count(*) AS n
FROM orders o
WHERE o.ordered >= '1993-07-01' AND o.ordered < '1993-10-01'
  AND EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id AND l.promised < l.received)
GROUP BY o.priority
ORDER BY o.priority
