-- Does cheap shipping delay urgent orders?
SELECT l.mode, sum(CASE WHEN o.priority = 'urgent' OR o.priority = 'high' THEN 1 ELSE 0 END) AS high,
       sum(CASE WHEN o.priority <> 'urgent' AND o.priority <> 'high' THEN 1 ELSE 0 END) AS low
FROM orders o JOIN line l ON o.id = l.order_id
WHERE l.mode IN ('mail', 'ship') AND l.promised < l.received AND l.shipped < l.promised
  AND l.received >= '1994-01-01' AND l.received < '1995-01-01'
GROUP BY l.mode
ORDER BY l.mode
