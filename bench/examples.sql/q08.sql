-- One nation's share of a market.
SELECT t.ordered, sum(CASE WHEN t.nation = 'brazil' THEN t.volume ELSE 0 END) AS part,
       sum(t.volume) AS whole
FROM (SELECT o.ordered, l.price * (1 - l.discount) AS volume, b.name AS nation
      FROM part p, supplier s, line l, orders o, customer c, nation a, nation b, region r
      WHERE p.id = l.part_id AND s.id = l.supplier_id AND l.order_id = o.id
        AND o.customer_id = c.id AND c.nation_id = a.id AND a.region_id = r.id
        AND r.name = 'america' AND s.nation_id = b.id
        AND o.ordered BETWEEN '1995-01-01' AND '1996-12-31' AND p.kind = 'steel') t
GROUP BY t.ordered
ORDER BY t.ordered
