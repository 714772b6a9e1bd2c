/* Folders for results, each of one command at a time: two that write tests or
 * sequences there would mix them. The kernel lets go of the lock when the process ends,
 * however that happens. */
#include "base/file.h"
#include "session/session_int.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_ours(const Session *s, const char *folder)
{
    for (size_t i = 0; i < s->claims.len; i++)
        if (strcmp(s->claims.items[i].folder, folder) == 0)
            return true;
    return false;
}

bool session_claim(Session *s, const char *folder, Err *err)
{
    Claim c = { .folder = path_absolute(folder), .made = !file_exists(folder) };
    if (!c.made && is_ours(s, c.folder)) {
        free(c.folder);
        return true;
    }
    Err later = { 0 };             /* who has something to write will say it */
    bool busy = false;
    c.fd = dir_make(folder, &later) ? dir_lock(folder, &busy) : -1;
    if (c.fd >= 0)
        vec_push(&s->claims, c);
    else
        free(c.folder);
    return !busy ||
           err_set(err, "%s: another command is at work there; name another folder", folder);
}

void claims_release(Session *s)
{
    for (size_t i = 0; i < s->claims.len; i++) {
        Claim *c = &s->claims.items[i];
        if (c->made)
            rmdir(c->folder);      /* if nothing came into it */
        close(c->fd);
        free(c->folder);
    }
    vec_release(&s->claims);
}
