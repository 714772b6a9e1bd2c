/* Runs of a batch as the program sees them; batch.h is the manual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/server/batch.h"
#include "runtime/input/input.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sundew_batch *batch;
static uint32_t file_length = UINT32_MAX;
static char file_name[4096];           /* of the input; "": it has none */

struct sundew_batch *sundew_batch_open(void)
{
    struct stat st;
    if (batch || fstat(SUNDEW_BATCH_FD, &st) != 0 ||
        st.st_size < (off_t)sizeof(struct sundew_batch))
        return batch;
    struct sundew_batch *b =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, SUNDEW_BATCH_FD, 0);
    if (b == MAP_FAILED)
        return NULL;
    if (b->magic != SUNDEW_BATCH_MAGIC || b->version != SUNDEW_BATCH_VERSION ||
        b->size != (uint64_t)st.st_size || b->counters != sundew_counters_size ||
        mmap(sundew_counters, b->counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             SUNDEW_BATCH_FD, SUNDEW_BATCH_HEADER) != sundew_counters) {
        munmap(b, (size_t)st.st_size);
        return NULL;
    }
    close(SUNDEW_BATCH_FD);
    const char *plan = getenv(SUNDEW_INPUT_ENV);
    if (plan && strncmp(plan, "in=", 3) == 0 && strlen(plan + 3) < sizeof file_name)
        strcpy(file_name, plan + 3);
    return batch = b;
}

const void *sundew_batch_input(uint64_t *len)
{
    if (!batch || batch->at >= batch->n || !(batch->flags & SUNDEW_BATCH_MEMORY))
        return NULL;
    const struct sundew_slot *s = &batch->slots[batch->at];
    *len = s->len;
    return sundew_batch_bytes(batch) + s->at;
}

/* A program may remove or rename its input (a compressor does). The next run finds a new file. */
static void keep_name(void)
{
    struct stat named, written;
    if (!*file_name ||
        (stat(file_name, &named) == 0 && fstat(SUNDEW_BATCH_INPUT_FD, &written) == 0 &&
         named.st_ino == written.st_ino && named.st_dev == written.st_dev))
        return;
    int fd = open(file_name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return;
    dup2(fd, SUNDEW_BATCH_INPUT_FD);
    close(fd);
}

static void write_input(const struct sundew_batch *b, const struct sundew_slot *s)
{
    keep_name();
    const uint8_t *from = sundew_batch_bytes((struct sundew_batch *)b) + s->at;
    for (uint32_t done = 0; done < s->len;) {
        ssize_t n = pwrite(SUNDEW_BATCH_INPUT_FD, from + done, s->len - done, done);
        if (n <= 0)
            break;
        done += (uint32_t)n;
    }
    if (ftruncate(SUNDEW_BATCH_INPUT_FD, s->len) == 0)
        file_length = s->len;
    lseek(SUNDEW_BATCH_INPUT_FD, 0, SEEK_SET);
    lseek(0, 0, SEEK_SET);
}

void sundew_batch_prepare(struct sundew_batch *b)
{
    if (!(b->flags & SUNDEW_BATCH_MEMORY))
        write_input(b, &b->slots[b->at]);
    memset(sundew_counters, 0, b->counters);
    b->started++;
}

/* Which bit stands for a count. */
static const uint8_t buckets[256] = {
    [1] = 1,         [2] = 2,          [3] = 4,           [4 ... 7] = 8,
    [8 ... 15] = 16, [16 ... 31] = 32, [32 ... 127] = 64, [128 ... 255] = 128,
};

/* Eight counters at once; gives the news in them. */
static uint32_t judge_word(uint8_t *counters, uint8_t *seen)
{
    uint32_t news = SUNDEW_NEWS_NONE;
    for (int i = 0; i < 8; i++) {
        uint8_t bit = counters[i] = buckets[counters[i]];
        if (!(bit & ~seen[i]))
            continue;
        uint32_t this = seen[i] ? SUNDEW_NEWS_COUNT : SUNDEW_NEWS_EDGE;
        news = this > news ? this : news;
        seen[i] |= bit;
    }
    return news;
}

void sundew_batch_judge(struct sundew_batch *b, int status, uint64_t micros)
{
    struct sundew_slot *s = &b->slots[b->at];
    int bad = (status & 0x7f) != 0;
    uint8_t *seen = sundew_batch_seen(b, bad);
    uint64_t path = 0x9e3779b97f4a7c15ull;
    s->status = status;
    s->micros = micros > UINT32_MAX ? UINT32_MAX : (uint32_t)micros;
    s->news = SUNDEW_NEWS_NONE;
    s->edges = 0;
    for (uint32_t i = 0; i < b->counters; i += 8) {
        uint64_t word;
        memcpy(&word, sundew_counters + i, 8);
        if (!word)
            continue;
        uint32_t news = judge_word(sundew_counters + i, seen + i);
        s->news = news > s->news ? news : s->news;
        memcpy(&word, sundew_counters + i, 8);
        path = (path ^ word ^ i) * 0xff51afd7ed558ccdull;
        path ^= path >> 32;
        for (uint64_t left = word; left; left &= ~(0xffull << (__builtin_ctzll(left) & ~7)))
            s->edges++;
    }
    s->path = path;
}
