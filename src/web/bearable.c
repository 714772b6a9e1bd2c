/* Pages are hostile input, and libraries read them: both need time that grows with the square of
 * what a page holds, and call themselves for what is inside. A large page is therefore read by a
 * child first, with limits; when that goes well, it goes well here too. */
#include "base/proc.h"
#include "base/units.h"
#include "web/judge.h"
#include "web/page.h"
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALWAYS = 16 << 10, CPU_SECONDS = 2, WALL_SECONDS = 60 };

static void listen(void *arg, bool error, const char *message, unsigned line, unsigned column)
{
    (void)arg, (void)error, (void)message, (void)line, (void)column;
}

static _Noreturn void try_it(const char *page, size_t n)
{
    struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS }, none = { 0, 0 };
    Options options = { 0 };
    PagePlan plan = { .from = request_new("index.php"), .app = "/dev/null" };
    signal(SIGSEGV, SIG_DFL);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &none);
    page_options(&plan, page, n, &options);
    html_check(page, n, true, listen, NULL);
    _exit(0);
}

bool page_is_bearable(const char *page, size_t n)
{
    if (n <= ALWAYS)
        return true;
    ProcResult r = { 0 };
    pid_t pid = proc_fork();
    if (pid == 0)
        try_it(page, n);
    if (pid < 0)
        return false;
    if (!proc_wait_until(pid, clock_seconds() + WALL_SECONDS, &r)) {
        kill(pid, SIGKILL);
        proc_wait(pid, &r);
    }
    return r.status == 0;
}
