/* A guest book under CGI: parameters in QUERY_STRING or standard input, entries in a file. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct field { char name[32], value[256]; } fields[20];
static int nfields;

static void decode(char *to, size_t room, const char *s, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n && k + 1 < room; i++)
        if (s[i] == '%' && i + 2 < n + 0 && isxdigit((unsigned char)s[i + 1])) {
            char hex[3] = { s[i + 1], s[i + 2], 0 };
            to[k++] = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            to[k++] = s[i] == '+' ? ' ' : s[i];
        }
    to[k] = '\0';
}

static void parse(const char *s)
{
    while (s && *s && nfields < 20) {
        size_t n = strcspn(s, "&"), eq = strcspn(s, "=&");
        decode(fields[nfields].name, sizeof fields[0].name, s, eq);
        if (eq < n)
            decode(fields[nfields].value, sizeof fields[0].value, s + eq + 1, n - eq - 1);
        nfields++;
        s += n + (s[n] == '&');
    }
}

static const char *get(const char *name)
{
    for (int i = 0; i < nfields; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].value;
    return "";
}

static void escaped(const char *s)
{
    for (; *s; s++)
        if (*s == '<')
            fputs("&lt;", stdout);
        else if (*s == '&')
            fputs("&amp;", stdout);
        else
            putchar(*s);
}

int main(void)
{
    static char body[4096];
    const char *method = getenv("REQUEST_METHOD"), *length = getenv("CONTENT_LENGTH");
    parse(getenv("QUERY_STRING"));
    if (method && strcmp(method, "POST") == 0 && length) {
        size_t n = (size_t)atoi(length);
        n = fread(body, 1, n < sizeof body - 1 ? n : sizeof body - 1, stdin);
        body[n] = '\0';
        parse(body);
    }
    if (strcmp(get("mode"), "raw") == 0)          /* no header at all */
        return 0;
    if (strcmp(get("mode"), "quit") == 0) {
        printf("Content-Type: text/plain\r\n\r\nbye\n");
        return 3;
    }
    printf("Content-Type: text/html; charset=utf-8\r\n\r\n<!DOCTYPE html>\n<html><head><title>Guests</title></head><body>\n");
    if (strcasecmp(get("mode"), "Admin") == 0) {
        char small[8];
        printf("<h1>Administration</h1>\n");
        if (strncmp(get("key"), "key-", 4) == 0) {
            assert(strlen(get("key")) < sizeof small * 100);
            strcpy(small, strstr(get("key"), "long") ? "much too long a key" : "short");
            printf("<p>%s</p>\n", small);
        }
    }
    if (strcmp(get("mode"), "list") == 0) {
        FILE *f = fopen("guests.txt", "r");
        char line[256];
        int n = 0;
        while (f && fgets(line, sizeof line, f)) {
            printf("<p>");
            escaped(line);
            printf("</p>\n");
            n++;
        }
        if (f)
            fclose(f);
        if (n == 2)
            printf("<div>two guests\n");           /* left open, behind two posts */
    }
    if (strcmp(get("mode"), "ping") == 0 && *get("host")) {
        char command[300];
        snprintf(command, sizeof command, "ping -c 1 %s", get("host"));
        if (system(command) != 0)
            printf("<p>no answer</p>\n");
    }
    if (strcmp(get("mode"), "never") == 0 && strcmp(get("mode"), "list") == 0)
        abort();
    if (*get("guest")) {
        FILE *f = fopen("guests.txt", "a");
        if (f) {
            fprintf(f, "%s\n", get("guest"));
            fclose(f);
        }
        printf("<p>Welcome, %s</p>\n", get("guest"));      /* as it is */
    }
    printf("<form action=\"index.cgi\" method=\"post\"><p><input name=\"guest\"><input type=\"submit\" value=\"Sign\"></p></form>\n"
           "<p><a href=\"index.cgi?mode=list\">guests</a></p>\n</body></html>\n");
    return 0;
}
