/*
 * name:   the low end passed as the high one, against names and three calls
 * run:    sundew arguments --json $file
 * expect: "counting": 1,
 * expect: "rule": "arguments/swapped"
 * expect: "line": 24
 * expect: "message": "setEndPoints: arguments 1 and 2 look swapped"
 * expect: 'low' is passed as 'high', 'high' is passed as 'low'
 * expect: 3 of 3 other calls have them the other way round
 * expect: "confidence": 1.0
 * status: 1
 */
void setEndPoints(int high, int low);

void all(int h, int Low, int high, int low, int highEP, int lowEP)
{
    setEndPoints(h, Low);
    setEndPoints(high, low);
    setEndPoints(highEP, lowEP);
}

void one(int high, int low)
{
    setEndPoints(low, high);
}
