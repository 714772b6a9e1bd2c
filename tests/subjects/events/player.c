/* A player: one call of step() is an event. Eight branch outcomes below l0 to l3. */
enum { STOPPED, PLAYING, SKIPPING };
static int g = STOPPED;
#ifdef STATISTICS
static int handled;
#endif

void step(int e)
{
#ifdef STATISTICS
    handled++;
#endif
    if (g == STOPPED) {
        if (e == 1)
            g = PLAYING;
        else if (e == 2)
            g = SKIPPING;
    } else if (e == 0) {
        g = STOPPED;
    }
}

int main(void)
{
    step(9);
    return g;
}
