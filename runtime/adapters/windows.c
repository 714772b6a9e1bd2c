/*
 * Events of a window: SDL 2; adapters.h is the manual.
 *
 * There is no window: SDL's own driver "dummy" stands behind it (SDL_VIDEODRIVER), so what the
 * program draws goes nowhere. A program that waits gets the next event. A program that looks
 * whether there is one (SDL_PollEvent in each frame) gets one or none in a frame: behind an event it
 * hears once that there is no more, and then the next one is asked for. "Nothing" is an event too:
 * a frame passes.
 *
 *     an event    kind, a (two bytes), b (two bytes)
 *     key         a: below 128 a character, else a scan code
 *     button      a, b: where, in pixels
 *     motion      the same
 */
#include "runtime/adapters/adapters.h"
#include <string.h>

/* As SDL 2 has them (SDL_events.h). */
enum {
    TYPE_QUIT = 0x100,
    TYPE_KEY_DOWN = 0x300,
    TYPE_KEY_UP = 0x301,
    TYPE_MOTION = 0x400,
    TYPE_BUTTON_DOWN = 0x401,
    TYPE_BUTTON_UP = 0x402,
    SCANCODE_MASK = 1 << 30,
};

union sundew_sdl_event {
    uint32_t type;
    struct {
        uint32_t type, time, window;
        uint8_t state, repeat, unused[2];
        uint32_t scancode;
        int32_t sym;
        uint16_t mod;
        uint32_t unused2;
    } key;
    struct {
        uint32_t type, time, window, which;
        uint8_t button, state, clicks, unused;
        int32_t x, y;
    } button;
    struct {
        uint32_t type, time, window, which, state;
        int32_t x, y, dx, dy;
    } motion;
    uint8_t room[56];
};

extern int SDL_PollEvent(union sundew_sdl_event *out);
extern int SDL_WaitEvent(union sundew_sdl_event *out);
extern int SDL_WaitEventTimeout(union sundew_sdl_event *out, int ms);
extern uint32_t SDL_GetTicks(void);
extern uint64_t SDL_GetTicks64(void);
extern void SDL_Delay(uint32_t ms);
extern uint64_t event_clock;

/* Names that don't begin with sundew_ are in the state. */
int event_given;                     /* the program has got an event in this frame */

static uint32_t ticks(void) { return (uint32_t)(event_clock / 1000000u % 100000000u); }

static void make_key(union sundew_sdl_event *e, uint32_t type, unsigned code)
{
    e->key.type = type;
    e->key.state = type == TYPE_KEY_DOWN;
    if (code < 128) {
        e->key.sym = (int32_t)code;
        e->key.scancode = code >= 'a' && code <= 'z' ? code - 'a' + 4 : 0;
    } else {
        e->key.scancode = code & 0x1ff;
        e->key.sym = (int32_t)(SCANCODE_MASK | (code & 0x1ff));
    }
}

static void make_button(union sundew_sdl_event *e, uint32_t type, int x, int y)
{
    e->button.type = type;
    e->button.button = 1;
    e->button.state = type == TYPE_BUTTON_DOWN;
    e->button.clicks = 1;
    e->button.x = x;
    e->button.y = y;
}

/* From where it comes is not kept, so that a motion which the program does not look at changes nothing. */
static void make_motion(union sundew_sdl_event *e, int x, int y)
{
    e->motion.type = TYPE_MOTION;
    e->motion.x = x;
    e->motion.y = y;
    e->motion.dx = (int8_t)x;
    e->motion.dy = (int8_t)y;
}

/* Waits for an event; 0: nothing happens. */
static int next_event(union sundew_sdl_event *out)
{
    union sundew_sdl_event e;
    uint8_t in[5];
    sundew_event_next(in, sizeof in);
    unsigned kind = in[0] % SUNDEW_WINDOW_KINDS;
    unsigned a = in[1] | (unsigned)in[2] << 8, b = in[3] | (unsigned)in[4] << 8;
    memset(&e, 0, sizeof e);
    if (kind == SUNDEW_WINDOW_KEY_DOWN)
        make_key(&e, TYPE_KEY_DOWN, a);
    else if (kind == SUNDEW_WINDOW_KEY_UP)
        make_key(&e, TYPE_KEY_UP, a);
    else if (kind == SUNDEW_WINDOW_BUTTON_DOWN)
        make_button(&e, TYPE_BUTTON_DOWN, (int)a, (int)b);
    else if (kind == SUNDEW_WINDOW_BUTTON_UP)
        make_button(&e, TYPE_BUTTON_UP, (int)a, (int)b);
    else if (kind == SUNDEW_WINDOW_MOTION)
        make_motion(&e, (int)a, (int)b);
    else if (kind == SUNDEW_WINDOW_QUIT)
        e.type = TYPE_QUIT;
    else
        return 0;
    e.key.time = ticks();
    if (out)
        *out = e;
    return 1;
}

int sundew_event_SDL_PollEvent(union sundew_sdl_event *out)
{
    if (!sundew_event_engine())
        return SDL_PollEvent(out);
    event_given = !event_given && next_event(out);
    return event_given;
}

int sundew_event_SDL_WaitEvent(union sundew_sdl_event *out)
{
    if (!sundew_event_engine())
        return SDL_WaitEvent(out);
    while (!next_event(out))
        ;
    return 1;
}

int sundew_event_SDL_WaitEventTimeout(union sundew_sdl_event *out, int ms)
{
    if (!sundew_event_engine())
        return SDL_WaitEventTimeout(out, ms);
    int got = next_event(out);
    if (!got && ms > 0)
        event_clock += (uint64_t)ms * 1000000u;
    return got;
}

/* ---- time */

uint32_t sundew_event_SDL_GetTicks(void)
{
    return sundew_event_engine() ? ticks() : SDL_GetTicks();
}

uint64_t sundew_event_SDL_GetTicks64(void)
{
    return sundew_event_engine() ? ticks() : SDL_GetTicks64();
}

void sundew_event_SDL_Delay(uint32_t ms)
{
    if (sundew_event_engine())
        event_clock += (uint64_t)ms * 1000000u;
    else
        SDL_Delay(ms);
}
