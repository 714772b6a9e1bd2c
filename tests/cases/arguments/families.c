/*
 * name:   calls speak in several ways of the same two ends
 * run:    sundew arguments --json $file
 * expect: "counting": 1,
 * expect: "line": 32
 * expect: "message": "substring: arguments 2 and 3 look swapped
 * expect: "confidence": 1.0
 * status: 1
 */
struct text;
void substring(struct text *t, int, int);

struct range { int start, end, startIndex, endIndex, startPos, lastPos, first,
               last; };

void all(struct text *t, struct range r)
{
    int start = r.start, end = r.end, first = r.first, last = r.last;

    substring(t, start, end);
    substring(t, start, end);
    substring(t, start, end);
    substring(t, r.startIndex, r.endIndex);
    substring(t, r.startPos, r.lastPos);
    substring(t, first, last);
    substring(t, first, last);
    substring(t, first, last);
}

void one(struct text *t, int start, int end)
{
    substring(t, end, start);
}
