/* Error paths that no run takes by itself: files that can't be opened, read or written.
 * FIXED mends all of them. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* The second file can't be opened: the first stays open. */
static int copy(const char *from, const char *to)
{
    FILE *in = fopen(from, "r");
    if (!in)
        return 1;
    FILE *out = fopen(to, "w");
    if (!out) {
#ifdef FIXED
        fclose(in);
#endif
        return 1;
    }
    char line[80];
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fclose(in);
    return fclose(out) != 0;
}

/* Nobody asks whether the file is there; another function reads. */
static int first_of(FILE *f)
{
    int c = fgetc(f);
    fclose(f);
    return c;
}

static int first(const char *path)
{
    FILE *f = fopen(path, "r");
#ifdef FIXED
    if (!f)
        return EOF;
#endif
    return first_of(f);
}

/* What can't be written is closed twice. */
static int save(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    int bad = fputs(text, f) == EOF;
#ifndef FIXED
    if (bad)
        fclose(f);
#endif
    return fclose(f) != 0 || bad;
}

/* Right: keeps its file from call to call, and a failure in between ends the program. */
static FILE *kept;
static int next_line(const char *path, char *line, int n)
{
    if (!kept && !(kept = fopen(path, "r")))
        return 0;
    if (fgets(line, n, kept))
        return 1;
    if (ferror(kept))
        return 0;
    fclose(kept);
    kept = NULL;
    return 0;
}

static int count(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    if (!d)
        return -1;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

int main(int argc, char **argv)
{
    char line[80];
    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "copy"))
        return copy(argv[2], argv[3]);
    if (!strcmp(argv[1], "first"))
        return first(argv[2]) == EOF;
    if (!strcmp(argv[1], "save"))
        return save(argv[2], "text\n");
    if (!strcmp(argv[1], "count"))
        return count(argv[2]) < 0;
    while (next_line(argv[2], line, sizeof line))
        fputs(line, stdout);
    return 0;
}
