-- What was shipped until a day, by whether it came back.
SELECT l.returned, sum(l.quantity) AS pieces, sum(l.price) AS gross,
       sum(l.price * (1 - l.discount)) AS net, avg(l.quantity) AS mean, count(*) AS n
FROM line l
WHERE l.shipped <= '1998-09-02'
GROUP BY l.returned
ORDER BY l.returned
