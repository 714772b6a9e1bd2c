/* The standins, file by file: for each other and for their tests. */
#ifndef SUNDEW_STANDINS_LIST_H
#define SUNDEW_STANDINS_LIST_H
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <wchar.h>

/* ask.c */
void sundew_standin___VERIFIER_assume(int holds);
void sundew_standin___VERIFIER_assert(int holds);
int sundew_standin_klee_int(const char *name);
int sundew_standin_klee_range(int begin, int end, const char *name);
uintptr_t sundew_standin_klee_choose(uintptr_t n);
void sundew_standin_klee_assume(uintptr_t holds);
/* ctype.c */
const unsigned short **sundew_standin___ctype_b_loc(void);
const int32_t **sundew_standin___ctype_tolower_loc(void);
const int32_t **sundew_standin___ctype_toupper_loc(void);
int sundew_standin_isdigit(int c);
int sundew_standin_isalpha(int c);
int sundew_standin_isalnum(int c);
int sundew_standin_isspace(int c);
int sundew_standin_isupper(int c);
int sundew_standin_islower(int c);
int sundew_standin_isxdigit(int c);
int sundew_standin_isprint(int c);
int sundew_standin_isgraph(int c);
int sundew_standin_ispunct(int c);
int sundew_standin_iscntrl(int c);
int sundew_standin_isblank(int c);
int sundew_standin_isascii(int c);
int sundew_standin_toascii(int c);
int sundew_standin_tolower(int c);
int sundew_standin_toupper(int c);
/* env.c */
char *sundew_standin_getenv(const char *name);
int sundew_standin_setenv(const char *name, const char *value, int overwrite);
/* floats.c */
double sundew_standin_strtod(const char *s, char **end);
double sundew_standin_atof(const char *s);
float sundew_standin_strtof(const char *s, char **end);
/* format.c */
int sundew_standin_vsnprintf(char *to, size_t room, const char *format, va_list ap);
int sundew_standin_snprintf(char *to, size_t room, const char *format, ...);
int sundew_standin_vsprintf(char *to, const char *format, va_list ap);
int sundew_standin_sprintf(char *to, const char *format, ...);
int sundew_standin_vasprintf(char **to, const char *format, va_list ap);
int sundew_standin_asprintf(char **to, const char *format, ...);
/* io.c */
ssize_t sundew_standin_read(int fd, void *to, size_t n);
ssize_t sundew_standin_pread(int fd, void *to, size_t n, off_t offset);
ssize_t sundew_standin_readv(int fd, const struct iovec *v, int n);
ssize_t sundew_standin_recv(int fd, void *to, size_t n, int flags);
ssize_t sundew_standin_recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from,
                                socklen_t *len);
int sundew_standin_socketpair(int domain, int type, int protocol, int *ends);
ssize_t sundew_standin_send(int fd, const void *from, size_t n, int flags);
long sundew_standin_syscall(long number, ...);
ssize_t sundew_standin_write(int fd, const void *from, size_t n);
ssize_t sundew_standin_pwrite(int fd, const void *from, size_t n, off_t offset);
void *sundew_standin_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int sundew_standin_getc(FILE *f);
int sundew_standin_getchar(void);
size_t sundew_standin_fread(void *to, size_t size, size_t n, FILE *f);
char *sundew_standin_fgets(char *to, int n, FILE *f);
char *sundew_standin_gets(char *to);
ssize_t sundew_standin_getdelim(char **line, size_t *n, int delimiter, FILE *f);
ssize_t sundew_standin_getline(char **line, size_t *n, FILE *f);
int sundew_standin_fseek(FILE *f, long offset, int whence);
int sundew_standin_fseeko(FILE *f, off_t offset, int whence);
void sundew_standin_rewind(FILE *f);
int sundew_standin_fsetpos(FILE *f, const fpos_t *at);
int sundew_standin_fclose(FILE *f);
size_t sundew_standin_fwrite(const void *from, size_t size, size_t n, FILE *f);
int sundew_standin_fputs(const char *s, FILE *f);
int sundew_standin_fputc(int c, FILE *f);
int sundew_standin_vfprintf(FILE *f, const char *format, va_list ap);
int sundew_standin_fprintf(FILE *f, const char *format, ...);
int sundew_standin_dprintf(int fd, const char *format, ...);
/* maths.c */
double sundew_standin_sin(double a);
double sundew_standin_cos(double a);
double sundew_standin_tan(double a);
double sundew_standin_asin(double a);
double sundew_standin_acos(double a);
double sundew_standin_atan(double a);
double sundew_standin_sinh(double a);
double sundew_standin_cosh(double a);
double sundew_standin_tanh(double a);
double sundew_standin_exp(double a);
double sundew_standin_exp2(double a);
double sundew_standin_log(double a);
double sundew_standin_log2(double a);
double sundew_standin_log10(double a);
double sundew_standin_cbrt(double a);
double sundew_standin_pow(double a, double b);
double sundew_standin_atan2(double a, double b);
double sundew_standin_hypot(double a, double b);
float sundew_standin_sinf(float a);
float sundew_standin_cosf(float a);
float sundew_standin_tanf(float a);
float sundew_standin_expf(float a);
float sundew_standin_logf(float a);
float sundew_standin_log2f(float a);
float sundew_standin_log10f(float a);
float sundew_standin_powf(float a, float b);
float sundew_standin_atan2f(float a, float b);
double sundew_standin_sqrt(double a);
float sundew_standin_sqrtf(float a);
double sundew_standin_fabs(double a);
float sundew_standin_fabsf(float a);
double sundew_standin_floor(double a);
double sundew_standin_ceil(double a);
double sundew_standin_trunc(double a);
double sundew_standin_round(double a);
double sundew_standin_rint(double a);
double sundew_standin_nearbyint(double a);
float sundew_standin_floorf(float a);
float sundew_standin_ceilf(float a);
float sundew_standin_roundf(float a);
long sundew_standin_lround(double a);
long sundew_standin_lrint(double a);
double sundew_standin_fmin(double a, double b);
double sundew_standin_fmax(double a, double b);
double sundew_standin_fmod(double a, double b);
float sundew_standin_fmodf(float a, float b);
double sundew_standin_frexp(double a, int *e);
double sundew_standin_ldexp(double a, int n);
double sundew_standin_modf(double a, double *whole);
/* memory.c */
void *sundew_standin_memcpy(void *to, const void *from, size_t n);
void *sundew_standin_mempcpy(void *to, const void *from, size_t n);
void *sundew_standin_memmove(void *to, const void *from, size_t n);
void *sundew_standin_memset(void *to, int c, size_t n);
void sundew_standin_bzero(void *to, size_t n);
void sundew_standin_bcopy(const void *from, void *to, size_t n);
int sundew_standin_memcmp(const void *a, const void *b, size_t n);
void *sundew_standin_memchr(const void *s, int c, size_t n);
void *sundew_standin_memrchr(const void *s, int c, size_t n);
void *sundew_standin_rawmemchr(const void *s, int c);
void *sundew_standin_memccpy(void *to, const void *from, int c, size_t n);
void *sundew_standin_memmem(const void *s, size_t n, const void *what, size_t k);
uint32_t sundew_standin_htonl(uint32_t v);
uint16_t sundew_standin_htons(uint16_t v);
void sundew_standin_swab(const void *from, void *to, ssize_t n);
size_t sundew_standin_wcslen(const wchar_t *s);
size_t sundew_standin_wcsnlen(const wchar_t *s, size_t most);
int sundew_standin_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n);
int sundew_standin_wcscmp(const wchar_t *a, const wchar_t *b);
int sundew_standin_wmemcmp(const wchar_t *a, const wchar_t *b, size_t n);
wchar_t *sundew_standin_wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *sundew_standin_wcsncpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *sundew_standin_wcscat(wchar_t *to, const wchar_t *from);
wchar_t *sundew_standin_wcschr(const wchar_t *s, wchar_t c);
wchar_t *sundew_standin_wcsrchr(const wchar_t *s, wchar_t c);
wchar_t *sundew_standin_wmemcpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *sundew_standin_wmemmove(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *sundew_standin_wmemset(wchar_t *to, wchar_t c, size_t n);
/* numbers.c */
long sundew_standin_strtol(const char *s, char **end, int base);
long long sundew_standin_strtoll(const char *s, char **end, int base);
unsigned long sundew_standin_strtoul(const char *s, char **end, int base);
unsigned long long sundew_standin_strtoull(const char *s, char **end, int base);
int sundew_standin_atoi(const char *s);
long sundew_standin_atol(const char *s);
long long sundew_standin_atoll(const char *s);
int sundew_standin_abs(int v);
long sundew_standin_labs(long v);
long long sundew_standin_llabs(long long v);
div_t sundew_standin_div(int a, int b);
ldiv_t sundew_standin_ldiv(long a, long b);
int sundew_standin_ffs(int v);
/* random.c */
void sundew_standin_srand(unsigned seed);
int sundew_standin_rand(void);
void sundew_standin_srandom(unsigned seed);
long sundew_standin_random(void);
int sundew_standin_rand_r(unsigned *seed);
/* scan.c */
int sundew_standin_vsscanf(const char *s, const char *format, va_list ap);
int sundew_standin_sscanf(const char *s, const char *format, ...);
int sundew_standin_vfscanf(FILE *f, const char *format, va_list ap);
int sundew_standin_fscanf(FILE *f, const char *format, ...);
int sundew_standin_vscanf(const char *format, va_list ap);
int sundew_standin_scanf(const char *format, ...);
/* sort.c */
void sundew_standin_qsort_r(void *base, size_t n, size_t size,
                            int (*compare)(const void *, const void *, void *), void *arg);
void sundew_standin_qsort(void *base, size_t n, size_t size,
                          int (*compare)(const void *, const void *));
void *sundew_standin_bsearch(const void *key, const void *base, size_t n, size_t size,
                             int (*compare)(const void *, const void *));
/* strings.c */
size_t sundew_standin_strlen(const char *s);
size_t sundew_standin_strnlen(const char *s, size_t most);
int sundew_standin_strcmp(const char *a, const char *b);
int sundew_standin_strncmp(const char *a, const char *b, size_t n);
int sundew_standin_strcasecmp(const char *a, const char *b);
int sundew_standin_strncasecmp(const char *a, const char *b, size_t n);
int sundew_standin_strcoll(const char *a, const char *b);
char *sundew_standin_stpcpy(char *to, const char *from);
char *sundew_standin_strcpy(char *to, const char *from);
char *sundew_standin_stpncpy(char *to, const char *from, size_t n);
char *sundew_standin_strncpy(char *to, const char *from, size_t n);
char *sundew_standin_strcat(char *to, const char *from);
char *sundew_standin_strncat(char *to, const char *from, size_t n);
char *sundew_standin_strdup(const char *s);
char *sundew_standin_strndup(const char *s, size_t n);
size_t sundew_standin_strlcpy(char *to, const char *from, size_t n);
char *sundew_standin_strchr(const char *s, int c);
char *sundew_standin_strchrnul(const char *s, int c);
char *sundew_standin_strrchr(const char *s, int c);
size_t sundew_standin_strspn(const char *s, const char *set);
size_t sundew_standin_strcspn(const char *s, const char *set);
char *sundew_standin_strpbrk(const char *s, const char *set);
char *sundew_standin_strstr(const char *s, const char *what);
char *sundew_standin_strcasestr(const char *s, const char *what);
char *sundew_standin_strtok_r(char *s, const char *set, char **state);
char *sundew_standin_strtok(char *s, const char *set);
char *sundew_standin_strsep(char **s, const char *set);
#endif
