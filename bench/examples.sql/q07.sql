-- Trade between two nations.
SELECT t.seller, t.buyer, sum(t.volume) AS revenue
FROM (SELECT a.name AS seller, b.name AS buyer, l.price * (1 - l.discount) AS volume
      FROM supplier s, line l, orders o, customer c, nation a, nation b
      WHERE s.id = l.supplier_id AND o.id = l.order_id AND c.id = o.customer_id
        AND s.nation_id = a.id AND c.nation_id = b.id
        AND ((a.name = 'france' AND b.name = 'germany')
             OR (a.name = 'germany' AND b.name = 'france'))
        AND l.shipped BETWEEN '1995-01-01' AND '1996-12-31') t
GROUP BY t.seller, t.buyer
ORDER BY t.seller, t.buyer
