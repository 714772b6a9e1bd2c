-- Orders that were not shipped yet, the largest first.
SELECT l.order_id, sum(l.price * (1 - l.discount)) AS revenue, o.ordered
FROM customer c, orders o, line l
WHERE c.segment = 'building' AND c.id = o.customer_id AND l.order_id = o.id
  AND o.ordered < '1995-03-15' AND l.shipped > '1995-03-15'
GROUP BY l.order_id, o.ordered
ORDER BY revenue DESC, o.ordered, l.order_id
