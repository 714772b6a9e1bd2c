/* Two counters that have nothing to do with each other. */
static int a, b;

void count(int e)
{
    if (e == 1) {
        if (a < 5)
            a++;
    } else if (e == 2) {
        if (b < 5)
            b++;
    }
}

int main(void)
{
    count(0);
    return a + b;
}
