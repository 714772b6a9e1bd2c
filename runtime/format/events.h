/*
 * events - what a run of a program that waits for events tells: shared memory
 * between the woven program and the engine (src/engine/events/).
 *
 *     header | ignored locations | locations | (next page) counters of edges
 *
 * The engine makes the memory and passes it as descriptor SUNDEW_EVENTS_FD. The
 * input of a run is a string of events of one size, one after the other. The
 * program runs them all. Of the last event it says which locations of its state
 * the event read and wrote; of the state before and behind it, a hash.
 *
 * A location is a part of an object. Objects are numbered: variables as the weave's
 * table has them; local variables of the functions that wait, from SUNDEW_EVENT_LOCAL on; blocks
 * of the heap in the order in which they are found from the other objects, from
 * SUNDEW_EVENT_HEAP on (SUNDEW_EVENT_BORN: made by the last event). Equal states have equal numbers.
 *
 * The program is not trusted: the engine checks every number.
 */
#ifndef SUNDEW_FORMAT_EVENTS_H
#define SUNDEW_FORMAT_EVENTS_H
#include <stdint.h>

enum {
    SUNDEW_EVENTS_FD = 197,
    SUNDEW_EVENTS_MAGIC = 0x76456453,          /* "SdEv" */
    SUNDEW_EVENTS_VERSION = 3,
    SUNDEW_EVENTS_IGNORED = 4096,              /* most locations of each list */
    SUNDEW_EVENTS_LOCATIONS = 1 << 15,
    SUNDEW_EVENTS_PAGE = 4096,
};

enum {
    SUNDEW_EVENT_LOCAL = 1 << 24,
    SUNDEW_EVENT_HEAP = 1 << 25,
    SUNDEW_EVENT_BORN = 1 << 26,
};

/* What an event did to a location. */
enum {
    SUNDEW_EVENT_READ = 1,       /* the value that it had before the event was read */
    SUNDEW_EVENT_TOUCHED = 2,    /* written, maybe with the value that it had */
    SUNDEW_EVENT_CHANGED = 4,    /* its value is another one now */
    SUNDEW_EVENT_SYMBOLIC = 8,   /* its value depends on the event */
    SUNDEW_EVENT_UPDATED =
        16, /* between the program and its runtime: what was written comes from the value that it had */
};

struct sundew_event_location {
    uint32_t object, offset, size;
    uint32_t how;
};

/* Things that the state can't show; bits. */
enum {
    SUNDEW_EVENT_WROTE_FILE = 1, /* opened a file for writing, or removed one */
    SUNDEW_EVENT_FORKED = 2,
    SUNDEW_EVENT_REAL_CLOCK = 4, /* not in use: clocks are virtual */
    SUNDEW_EVENT_THREADS = 8,
    SUNDEW_EVENT_TOO_LARGE = 16, /* the state has too many objects */
    SUNDEW_EVENT_CUT = 32, /* … or the event too many locations */
    SUNDEW_EVENT_NO_LABELS = 64, /* the log was full: values may depend on the event */
};

/* Kinds of events of a server. */
enum {
    SUNDEW_EVENT_CONNECT,
    SUNDEW_EVENT_DATA, /* bytes arrive on a connection */
    SUNDEW_EVENT_END, /* a client goes */
    SUNDEW_EVENT_TIMER, /* time passes: what the program wants to wait at most */
    SUNDEW_EVENT_KINDS = 4,
};

/* Keys that are none, by the codes that curses has for them. */
enum {
    SUNDEW_KEY_MOUSE = 409,
    SUNDEW_KEY_RESIZE = 410,
    SUNDEW_KEY_TIME = 511, /* a code that no key has: time passes, and no key comes */
};

/* Kinds of events of a window. */
enum {
    SUNDEW_WINDOW_KEY_DOWN,
    SUNDEW_WINDOW_KEY_UP,
    SUNDEW_WINDOW_BUTTON_DOWN,
    SUNDEW_WINDOW_BUTTON_UP,
    SUNDEW_WINDOW_MOTION,
    SUNDEW_WINDOW_QUIT,
    SUNDEW_WINDOW_NOTHING, /* a frame passes */
    SUNDEW_WINDOW_KINDS,
};

/* How the run ended. */
enum {
    SUNDEW_EVENTS_STARTED = 1, /* the program runs */
    SUNDEW_EVENTS_WAITING, /* it asked for an event */
    SUNDEW_EVENTS_LAST, /* it has the last one */
    SUNDEW_EVENTS_DONE, /* and asked for another */
};

struct sundew_events {
    uint32_t magic, version;
    uint64_t size; /* of all */
    /* by the engine */
    uint32_t event_size; /* bytes */
    uint32_t loop; /* one call of a function is an event */
    uint32_t line; /* an event is a line of a terminal */
    uint32_t counters; /* bytes of counters */
    uint32_t nignored;
    uint32_t nkinds; /* of a server's events; 0: SUNDEW_EVENT_CONNECT only */
    uint32_t kinds[SUNDEW_EVENT_KINDS];
    uint32_t connections, open; /* at most so many at a time; so many from the start */
    uint32_t nkeys; /* of a terminal: only these; 0: any */
    uint16_t keys[512];
    uint32_t lines[2], columns[2]; /* its size, and the one that the key "resize" brings; 0: none */
    uint32_t mouse; /* behind a key are x, y and a button, a byte each */
    uint32_t shared; /* runs with the same first events may begin behind these */
    /* by the program */
    uint32_t stage; /* SUNDEW_EVENTS_… */
    uint32_t delivered; /* events */
    uint32_t hidden; /* SUNDEW_EVENT_WROTE_FILE …, of the last event */
    uint32_t nlocations;
    uint64_t before, after; /* hashes */
    uint64_t objects, bytes; /* of the state */
    uint64_t handled; /* events that this program and its forks have got; never set back */
    char file[256]; /* the last file that was opened for writing */
    struct sundew_event_location ignored[SUNDEW_EVENTS_IGNORED];
    struct sundew_event_location locations[SUNDEW_EVENTS_LOCATIONS];
};

static inline uint64_t sundew_events_counters_at(void)
{
    uint64_t page = SUNDEW_EVENTS_PAGE;
    return (sizeof(struct sundew_events) + page - 1) / page * page;
}
#endif
