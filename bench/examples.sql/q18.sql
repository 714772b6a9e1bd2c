-- Customers with very large orders.
SELECT c.name, c.id, o.id AS order_id, o.ordered, o.total, sum(l.quantity) AS pieces
FROM customer c, orders o, line l
WHERE o.id IN (SELECT m.order_id FROM line m GROUP BY m.order_id HAVING sum(m.quantity) > 300)
  AND c.id = o.customer_id AND o.id = l.order_id
GROUP BY c.name, c.id, o.id, o.ordered, o.total
ORDER BY o.total DESC, o.ordered, o.id
LIMIT 100
