/* watch - what the program read, and commands that have words of it. Nothing of this leaves the
 * process: the evidence has numbers only. */
#include "runtime/watch/watch_int.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RING = 1 << 16, PIECE = 4096, WORDS = 64, SHORTEST = 3, LONGEST_WORD = 200 };

static char ring[RING]; /* pieces of input, each ends with NUL; the oldest goes first */
static uint32_t ring_end;
static char arguments[PIECE];
static size_t narguments;
static char busy;

static int take(void) { return !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE); }
static void give(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

void sundew_watch_input(const void *p, int64_t n)
{
    if (!p || n <= 0 || !sundew_watch_slot_of(0) || !take())
        return;
    size_t size = n < PIECE ? (size_t)n : PIECE;
    if (ring_end + size + 1 > RING)
        ring_end = 0;
    memcpy(ring + ring_end, p, size);
    ring[ring_end + size] = 0;
    ring_end += (uint32_t)size + 1;
    give();
}

void sundew_watch_input_text(const char *text, int64_t n)
{
    (void)n;
    if (text)
        sundew_watch_input(text, (int64_t)strlen(text));
}

void sundew_watch_input_line(char *const *line, int64_t n)
{
    if (line && n > 0)
        sundew_watch_input(*line, n);
}

static void read_arguments(void)
{
    int fd = narguments ? -1 : open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, arguments, sizeof arguments);
    close(fd);
    size_t first = n > 0 ? strnlen(arguments, (size_t)n) : 0; /* the program's own name */
    memset(arguments, 0, first);
    narguments = n > 0 ? (size_t)n : 0;
}

static int was_read(const char *text, size_t n)
{
    return memmem(ring, RING, text, n) || memmem(arguments, narguments, text, n);
}

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || (c && strchr("_-./@+", c));
}

/* A word from outside stands at text[from, to); `quote`: the one that is open there. */
static void judge(struct sundew_watch_slot *s, const char *text, size_t from, size_t to, char quote,
                  int sql)
{
    static const char special[] = ";|&$`<>(){}*? \t\n'\"";
    char with[LONGEST_WORD + 2];
    if (!quote) {
        int more = text[to] && strchr(sql ? " ;'\"" : special, text[to]) && text[to + 1] &&
                   was_read(text + from, to - from + 2);
        sundew_watch_bad(s, more ? SUNDEW_WORD_SPECIAL : SUNDEW_WORD_BARE, (int64_t)from, 0);
        return;
    }
    __atomic_fetch_or(&s->bits, SUNDEW_WORD_QUOTED, RELAXED);
    memcpy(with, text + from, to - from);
    with[to - from] = quote;
    if (!was_read(with, to - from + 1))
        return;
    if (text[to] == quote && text[to + 1] && text[to + 1] != quote &&
        was_read(text + from, to - from + 2))
        sundew_watch_bad(s, SUNDEW_WORD_SPECIAL, (int64_t)from, 0);
    else
        __atomic_fetch_or(&s->bits, SUNDEW_WORD_ESCAPED, RELAXED);
}

static void judge_words(struct sundew_watch_slot *s, const char *text, size_t n, const char *own,
                        int sql)
{
    char quote = 0;
    unsigned words = 0;
    for (size_t i = 0; i < n && words < WORDS;) {
        if (text[i] == '\\' && !sql && quote != '\'') {
            i += 2;
            continue;
        }
        if (text[i] == '\'' || text[i] == '"')
            quote = !quote ? text[i] : quote == text[i] ? 0 : quote;
        size_t from = i;
        while (i < n && is_word(text[i]))
            i++;
        size_t length = i - from;
        int number = strspn(text + from, "0123456789.-") >= length;
        if (length >= SHORTEST && length <= LONGEST_WORD && !number) {
            words++;
            if (!memmem(own, strlen(own), text + from, length) && was_read(text + from, length))
                judge(s, text, from, i, quote, sql);
        }
        i += !length;
    }
}

/* A command that was read as a whole is what the user asked for. */
void sundew_watch_command(uint32_t slot, const char *text, const char *own, uint32_t sql)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int error = errno;
    if (!s || !text || sundew_watch_note(s) >= SUNDEW_WATCH_LOOKS || !take())
        return;
    size_t n = strnlen(text, PIECE);
    read_arguments();
    if (n && !was_read(text, n))
        judge_words(s, text, n, own, sql != 0);
    give();
    errno = error;
}
