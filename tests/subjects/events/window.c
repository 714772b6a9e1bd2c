/* The player with a window of SDL 2: keys p, s and 0, and a click on the corner that stops it. With STUB it is the
 * library instead: nothing of it is called under the engine but what opens the window. */
#include <stdint.h>
#include <stdlib.h>

typedef union Event {
    uint32_t type;
    struct {
        uint32_t type, time, window;
        uint8_t state, repeat, unused[2];
        uint32_t scancode;
        int32_t sym;
    } key;
    struct {
        uint32_t type, time, window, which;
        uint8_t button, state, clicks, unused;
        int32_t x, y;
    } button;
    uint8_t room[56];
} Event;

int SDL_Init(uint32_t what);
int SDL_PollEvent(Event *e);
int SDL_WaitEvent(Event *e);
void SDL_Delay(uint32_t ms);

#ifdef STUB
int SDL_Init(uint32_t what) { return what == 0; }
int SDL_PollEvent(Event *e) { return e == NULL; }
int SDL_WaitEvent(Event *e) { return e == NULL; }
void SDL_Delay(uint32_t ms) { (void)ms; }
#else
static int state; /* stopped, playing, skipping */

static void handle(const Event *e)
{
    if (e->type == 0x401 && e->button.x < 10 && e->button.y < 10)
        state = 0;
    if (e->type != 0x300)
        return;
    if (state == 0 && e->key.sym == 'p')
        state = 1;
    else if (state == 0 && e->key.sym == 's')
        state = 2;
    else if (state && e->key.sym == '0')
        state = 0;
}

int main(void)
{
    Event e;
    if (SDL_Init(0x20))
        return 1;
    for (;;) {
#ifdef WAIT
        SDL_WaitEvent(&e);
        if (e.type == 0x100)
            return 0;
        handle(&e);
#else
        while (SDL_PollEvent(&e)) {
            if (e.type == 0x100)
                return 0;
            handle(&e);
        }
        SDL_Delay(0);
#endif
    }
}
#endif
