/* Messages between Sundew and its worker; run_int.h tells which. */
#include "run/run_int.h"
#include "base/file.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAGIC = 0x53647277, MOST_BODY = 64 << 20 };

typedef struct Header {
    uint32_t magic, version;
    uint32_t kind, len, nfds;
    uint32_t number;           /* of the message, in this direction */
    uint64_t secret[2];
} Header;

void wire_draw_secret(Wire *w)
{
    while (getrandom(w->secret, sizeof w->secret, 0) != sizeof w->secret)
        ;
}

/* Is it from the other end, and the next one? The first one brings the secret. */
static bool is_next(Wire *w, const Header *h, size_t nfds)
{
    if (!w->secret[0] && !w->secret[1])
        memcpy(w->secret, h->secret, sizeof w->secret);
    return h->magic == MAGIC && h->version == WIRE_VERSION && h->number == w->received &&
           memcmp(h->secret, w->secret, sizeof w->secret) == 0 && h->len <= MOST_BODY &&
           h->nfds == nfds;
}

void wire_add(Str *body, const void *p, size_t n) { str_addn(body, p, n); }

void wire_add_text(Str *body, const char *text) { str_addn(body, text, strlen(text) + 1); }

void wire_get(WireIn *in, void *p, size_t n)
{
    if (in->bad || (size_t)(in->end - in->at) < n) {
        in->bad = true;
        memset(p, 0, n);
        return;
    }
    memcpy(p, in->at, n);
    in->at += n;
}

const char *wire_get_text(WireIn *in)
{
    const char *text = in->at;
    const char *nul = in->bad ? NULL : memchr(text, 0, (size_t)(in->end - text));
    if (!nul) {
        in->bad = true;
        return "";
    }
    in->at = nul + 1;
    return text;
}

bool wire_send(Wire *w, WireKind kind, const Str *body, const int *fds, size_t nfds)
{
    assert(nfds <= WIRE_MOST_FDS && (unsigned)kind <= WIRE_TIDY);
    size_t len = body ? body->len : 0;
    Header h = { .magic = MAGIC,
                 .version = WIRE_VERSION,
                 .kind = kind,
                 .len = (uint32_t)len,
                 .nfds = (uint32_t)nfds,
                 .number = w->sent++,
                 .secret = { w->secret[0], w->secret[1] } };
    struct iovec iov[2] = { { &h, sizeof h }, { body ? body->data : NULL, len } };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(WIRE_MOST_FDS * sizeof(int))];
    } control = { 0 };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };
    if (nfds) {
        m.msg_control = control.room;
        m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
    }
    ssize_t k;
    do
        k = sendmsg(w->fd, &m, MSG_NOSIGNAL);
    while (k < 0 && errno == EINTR);
    if (k < (ssize_t)sizeof h)
        return false;
    size_t sent = (size_t)k - sizeof h;
    return sent == len || socket_put(w->fd, body->data + sent, len - sent);
}

static bool receive_rest(int fd, char *p, size_t n)
{
    while (n) {
        ssize_t k = recv(fd, p, n, 0);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static void take_fds(struct msghdr *m, int *fds, size_t *nfds)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        assert(n <= WIRE_MOST_FDS - *nfds);      /* there was no room for more */
        memcpy(fds + *nfds, CMSG_DATA(c), n * sizeof(int));
        *nfds += n;
    }
}

bool wire_receive(Wire *w, WireKind *kind, Str *body, int *fds, size_t *nfds)
{
    Header h = { 0 };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(WIRE_MOST_FDS * sizeof(int))];
    } control = { 0 };
    struct iovec iov = { &h, sizeof h };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t k;
    do
        k = recvmsg(w->fd, &m, MSG_CMSG_CLOEXEC);
    while (k < 0 && errno == EINTR);
    *nfds = 0;
    if (k <= 0)
        return false;
    take_fds(&m, fds, nfds);
    str_reset(body);
    bool ok = receive_rest(w->fd, (char *)&h + k, sizeof h - (size_t)k) && is_next(w, &h, *nfds);
    w->received++;
    if (ok && h.len) {
        char *room = xmalloc(h.len);
        ok = receive_rest(w->fd, room, h.len);
        if (ok)
            str_addn(body, room, h.len);
        free(room);
    }
    if (!ok)
        for (size_t i = 0; i < *nfds; i++)
            close(fds[i]);
    *kind = h.kind;
    return ok;
}
