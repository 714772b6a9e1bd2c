-- Revenue where customer and supplier live in the same nation.
SELECT n.name, sum(l.price * (1 - l.discount)) AS revenue
FROM customer c, orders o, line l, supplier s, nation n, region r
WHERE c.id = o.customer_id AND l.order_id = o.id AND l.supplier_id = s.id
  AND c.nation_id = s.nation_id AND s.nation_id = n.id AND n.region_id = r.id
  AND r.name = 'asia' AND o.ordered >= '1994-01-01' AND o.ordered < '1995-01-01'
GROUP BY n.name
ORDER BY revenue DESC
