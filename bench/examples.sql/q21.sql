-- Suppliers that alone kept an order waiting.
SELECT s.name, count(*) AS waiting
FROM supplier s, line l, orders o, nation n
WHERE s.id = l.supplier_id AND o.id = l.order_id AND o.status = 'done' AND l.received > l.promised
  AND EXISTS (SELECT 1 FROM line m WHERE m.order_id = l.order_id AND m.supplier_id <> l.supplier_id)
  AND NOT EXISTS (SELECT 1 FROM line k WHERE k.order_id = l.order_id
                  AND k.supplier_id <> l.supplier_id AND k.received > k.promised)
  AND s.nation_id = n.id AND n.name = 'peru'
GROUP BY s.name
ORDER BY waiting DESC, s.name
