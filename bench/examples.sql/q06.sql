-- What small discounts cost in a year.
SELECT sum(l.price * l.discount) AS revenue
FROM line l
WHERE l.shipped >= '1994-01-01' AND l.shipped < '1995-01-01'
  AND l.discount BETWEEN 0.25 AND 0.5 AND l.quantity < 24
