/*
 * concolic-run - runs a concolically woven program with a log, and tells what it says.
 *
 *     concolic-run [-n NODES] [-q] [-0] COMMAND…
 *
 *     -q  only counts; -0: without a log, as if nothing were symbolic
 *
 * Standard input, output and error are the command's; what is told goes to the file
 * that SUNDEW_TOLD names, else to standard error. The status is the command's.
 */
#include "runtime/concolic_log.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const ops[] = {
#define X(name) #name,
    SUNDEW_NODE_OPS(X)
#undef X
};

static struct sundew_log *make_log(uint32_t nodes)
{
    uint32_t records = nodes / 2, bytes = 1 << 20;
    size_t size = sizeof(struct sundew_log) + (size_t)nodes * sizeof(struct sundew_node) +
                  (size_t)records * sizeof(struct sundew_record) + bytes;
    int fd = memfd_create("log", 0);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0 || dup2(fd, SUNDEW_LOG_FD) < 0)
        return NULL;
    struct sundew_log *l = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (l == MAP_FAILED)
        return NULL;
    close(fd);
    l->magic = SUNDEW_LOG_MAGIC;
    l->version = SUNDEW_LOG_VERSION;
    l->size = size;
    l->most_nodes = nodes;
    l->most_records = records;
    l->most_bytes = bytes;
    l->to = ~0u;
    return l;
}

static void print_node(FILE *out, struct sundew_log *l, uint32_t n, unsigned depth)
{
    if (n == 0 || n >= l->nodes || depth > 12) {
        fputs("…", out);
        return;
    }
    const struct sundew_node *x = &sundew_log_nodes(l)[n];
    if (x->op == SUNDEW_NODE_CONST) {
        fprintf(out, "%lld", (long long)(x->a | (uint64_t)x->b << 32));
        return;
    }
    if (x->op == SUNDEW_NODE_BYTE) {
        fprintf(out, "b%u", x->a);
        return;
    }
    fprintf(out, "(%s%u", x->op < SUNDEW_NODE_N ? ops[x->op] : "?", x->bits);
    if (x->op == SUNDEW_NODE_TABLE || x->op == SUNDEW_NODE_CHOOSE) {
        fputc(' ', out);
        print_node(out, l, x->a, depth + 1);
    } else {
        const uint32_t args[] = { x->a, x->b, x->c };
        for (unsigned k = 0; k < 3 && args[k]; k++) {
            fputc(' ', out);
            print_node(out, l, args[k], depth + 1);
        }
    }
    fputc(')', out);
}

static void tell(FILE *out, struct sundew_log *l, int quiet)
{
    static const char *const kinds[] = { "?", "branch", "other", "pin", "bug", "imprecise", "end" };
    unsigned counts[7] = {0};
    for (uint32_t i = 0; i < l->records; i++) {
        const struct sundew_record *r = &sundew_log_records(l)[i];
        unsigned kind = r->kind < 7 ? r->kind : 0;
        counts[kind]++;
        if (quiet || kind == SUNDEW_REC_OTHER)
            continue;
        fprintf(out, "%s k=%u at=%u value=%u ", kinds[kind], r->k, r->at, r->value);
        if (kind == SUNDEW_REC_IMPRECISE)
            fprintf(out, "%s", r->node && r->node < l->bytes
                                   ? (char *)sundew_log_bytes(l) + r->node : "");
        else
            print_node(out, l, r->node, 0);
        fputc('\n', out);
    }
    fprintf(out, "nodes %u regions %llu stale %llu", l->nodes, (unsigned long long)l->regions,
            (unsigned long long)l->stale);
    for (unsigned k = 1; k < 7; k++)
        fprintf(out, " %s %u", kinds[k], counts[k]);
    fputc('\n', out);
}

int main(int argc, char **argv)
{
    uint32_t nodes = 4u << 20;
    int c, quiet = 0, none = 0, status = 0;
    while ((c = getopt(argc, argv, "+n:q0")) != -1)
        switch (c) {
        case 'n': nodes = (uint32_t)strtoul(optarg, NULL, 0); break;
        case 'q': quiet = 1; break;
        case '0': none = 1; break;
        default: return 2;
        }
    struct sundew_log *l = none ? NULL : make_log(nodes);
    if ((!none && !l) || optind == argc)
        return 2;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[optind], argv + optind);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    const char *to = getenv("SUNDEW_TOLD");
    FILE *out = to ? fopen(to, "w") : stderr;
    if (l && out)
        tell(out, l, quiet);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
