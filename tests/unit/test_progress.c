/* The line that says how far long work is. */
#include "base/progress.h"
#include "skip.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Standard error is a terminal of that width; gives the other end. */
static int terminal(unsigned short columns, int *kept)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0)
        SKIP("there are no terminals here (/dev/pts)");
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct winsize size = { .ws_row = 24, .ws_col = columns };
    assert_true(slave >= 0 && ioctl(slave, TIOCSWINSZ, &size) == 0);
    *kept = dup(2);
    dup2(slave, 2);
    close(slave);
    return master;
}

/* What is drawn for `text`, between the return to the line's begin and the wiping of its
 * rest. */
static char *drawn(unsigned short columns, const char *text)
{
    static char buffer[1024];
    int kept, master = terminal(columns, &kept);
    progress_say(text);
    ssize_t n = read(master, buffer, sizeof buffer - 1);
    progress_wipe();
    dup2(kept, 2);
    close(kept);
    close(master);
    assert_true(n > 0 && buffer[0] == '\r');
    buffer[n] = 0;
    char *end = strstr(buffer, "\033[K");
    assert_non_null(end);
    *end = 0;
    return buffer + 1;
}

static void a_line_fits_its_terminal(void **state)
{
    (void)state;
    assert_string_equal(drawn(80, "reading units 3/41"), "reading units 3/41");
    assert_string_equal(drawn(12, "reading units 3/41"), "reading uni");
    assert_string_equal(drawn(5, "a→b→c→d"), "a→b→");
    assert_int_equal(strlen(drawn(200, "reading")), 7);
}

static void nothing_is_drawn_if_nobody_wants_it(void **state)
{
    (void)state;
    int kept, master = terminal(80, &kept);
    progress_mode(PROGRESS_OFF);
    Progress p = progress_start("reading units", 3);
    progress_step(&p, 1, "a.c");
    progress_end(&p);
    progress_mode(PROGRESS_AUTO);
    dup2(kept, 2);
    close(kept);
    fcntl(master, F_SETFL, O_NONBLOCK);
    char c;
    assert_true(read(master, &c, 1) <= 0);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_fits_its_terminal),
        cmocka_unit_test(nothing_is_drawn_if_nobody_wants_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
