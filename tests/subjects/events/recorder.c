/* Rewind writes only while something plays: after stop it is read-only. */
enum { STOPPED, PLAYING, PAUSED };
enum key { STOP, PLAY, PAUSE, REWIND };
static int mode = PLAYING, position = 7;

void press(enum key k)
{
    switch (k) {
    case STOP: mode = STOPPED; break;
    case PLAY: mode = PLAYING; break;
    case PAUSE:
        if (mode == PLAYING)
            mode = PAUSED;
        break;
    case REWIND:
        if (mode != STOPPED)
            position = 0;
        break;
    }
}

int main(void)
{
    press(PLAY);
    return position;
}
