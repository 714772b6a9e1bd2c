CREATE TABLE notes (text VARCHAR(80));
\! touch /var/tmp/sundew-attack/shell
system touch /var/tmp/sundew-attack/system
tee /var/tmp/sundew-attack/tee
