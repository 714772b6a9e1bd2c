-- Customers who sent things back.
SELECT c.id, c.name, sum(l.price * (1 - l.discount)) AS lost, c.balance, n.name AS nation
FROM customer c, orders o, line l, nation n
WHERE c.id = o.customer_id AND l.order_id = o.id AND o.ordered >= '1993-10-01'
  AND o.ordered < '1994-01-01' AND l.returned = 'yes' AND c.nation_id = n.id
GROUP BY c.id, c.name, c.balance, n.name
ORDER BY lost DESC, c.id
LIMIT 20
