/* Two threads write to one buffer; only the output tells. Run with --expect. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static char line[16];
static int length;

static void *say(void *arg)
{
    char c = (char)('a' + (uintptr_t)arg);
#ifdef FIXED
    LOCK(lock);
    line[length++] = 'x';
    UNLOCK(lock);
    (void)c;
#else
    LOCK(lock);
    line[length++] = c;
    UNLOCK(lock);
#endif
    return NULL;
}

int main(void)
{
    TOGETHER(say, say);
    puts(line);
}
