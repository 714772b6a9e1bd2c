/* An event is a struct behind a pointer to const, and one by value; the state is the
 * caller's. */
#include <assert.h>
struct sensor { short speed; unsigned char brake; };
struct limits { int low, high; };
struct car { int moving, braked; };

void control(struct car *car, const struct sensor *in, struct limits l, int gear)
{
    if (in->speed > 100 && l.low == 3)
        car->moving = 1;
    if (in->brake && car->moving)
        car->braked++;
    assert(!(car->braked == 2 && gear == -1));
}

int main(void)
{
    struct car car = { 0, 0 };
    struct sensor s = { 0, 0 };
    control(&car, &s, (struct limits){ 0, 0 }, 0);
    return car.braked;
}
