/*
 * Landlock: writes only below the scratch folder, the private folders and what
 * was named writable. Reading and executing are not restricted.
 *
 * The kernel's interface is spelled out here because the header of the system
 * may be older than its kernel.
 */
#include "run/run_int.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights, by the first version of the interface that has them. */
enum {
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,           /* 2 */
    TRUNCATE = 1 << 14,        /* 3 */
    IOCTL_DEV = 1 << 15,       /* 5 */
    OF_1 = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK |
           MAKE_FIFO | MAKE_BLOCK | MAKE_SYM,
    ON_FILES = WRITE_FILE | TRUNCATE | IOCTL_DEV,   /* that apply to a file */
    BIND_TCP = 1 << 0,
    CONNECT_TCP = 1 << 1,        /* 4 */
    SCOPE_ABSTRACT = 1 << 0,
    SCOPE_SIGNAL = 1 << 1, /* 6 */
    RULE_PATH_BENEATH = 1,
};

typedef struct Ruleset {
    uint64_t fs, net, scoped;
} Ruleset;

typedef struct Beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed)) Beneath;

static Ruleset rules_of(const Sandbox *s, long version, size_t *size)
{
    Ruleset r = { .fs = OF_1 };
    *size = sizeof r.fs;
    if (version >= 2)
        r.fs |= REFER;
    if (version >= 3)
        r.fs |= TRUNCATE;
    if (version >= 4) {
        *size = sizeof r.fs + sizeof r.net;
        if (!s->setup.network && !s->rows[PROTECT_NET].granted)
            r.net = BIND_TCP | CONNECT_TCP;
    }
    if (version >= 5)
        r.fs |= IOCTL_DEV;
    if (version >= 6) {
        *size = sizeof r;
        r.scoped = SCOPE_SIGNAL | (s->setup.network ? 0 : SCOPE_ABSTRACT);
    }
    return r;
}

static void allow(int ruleset, uint64_t handled, const char *path)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    Beneath b = { file_is_dir(path) ? handled : handled & ON_FILES, fd };
    syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &b, 0);
    close(fd);
}

static void allow_all(int ruleset, const Sandbox *s, uint64_t handled)
{
    static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty" };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        allow(ruleset, handled, devices[i]);
    for (size_t i = 0; i < 4; i++)
        if (s->private_tmp[i])
            allow(ruleset, handled, sandbox_private[i]);
    for (char **p = s->writable; *p; p++)
        allow(ruleset, handled, *p);
    if (s->has_layer)
        allow(ruleset, handled, s->layered);
    allow(ruleset, handled, s->scratch);
}

bool landlock_enter(const Sandbox *s, char *why, size_t size)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
    int ruleset = -1;
    bool ok = false;
    if (version > 0) {
        size_t bytes;
        Ruleset r = rules_of(s, version, &bytes);
        ruleset = (int)syscall(SYS_landlock_create_ruleset, &r, bytes, 0);
        if (ruleset >= 0) {
            allow_all(ruleset, s, r.fs);
            ok = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
        }
    }
    if (!ok)
        snprintf(why, size, "%s", strerror(errno));
    if (ruleset >= 0)
        close(ruleset);
    return ok;
}
