/* The models, file by file: for each other and for their tests. */
#ifndef SUNDEW_MODELS_LIST_H
#define SUNDEW_MODELS_LIST_H
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <wchar.h>

/* ask.c */
void sundew_model___VERIFIER_assume(int holds);
void sundew_model___VERIFIER_assert(int holds);
int sundew_model_klee_int(const char *name);
int sundew_model_klee_range(int begin, int end, const char *name);
uintptr_t sundew_model_klee_choose(uintptr_t n);
void sundew_model_klee_assume(uintptr_t holds);
/* ctype.c */
const unsigned short **sundew_model___ctype_b_loc(void);
const int32_t **sundew_model___ctype_tolower_loc(void);
const int32_t **sundew_model___ctype_toupper_loc(void);
int sundew_model_isdigit(int c);
int sundew_model_isalpha(int c);
int sundew_model_isalnum(int c);
int sundew_model_isspace(int c);
int sundew_model_isupper(int c);
int sundew_model_islower(int c);
int sundew_model_isxdigit(int c);
int sundew_model_isprint(int c);
int sundew_model_isgraph(int c);
int sundew_model_ispunct(int c);
int sundew_model_iscntrl(int c);
int sundew_model_isblank(int c);
int sundew_model_isascii(int c);
int sundew_model_toascii(int c);
int sundew_model_tolower(int c);
int sundew_model_toupper(int c);
/* env.c */
int sundew_model_setenv(const char *name, const char *value, int overwrite);
/* floats.c */
double sundew_model_strtod(const char *s, char **end);
double sundew_model_atof(const char *s);
float sundew_model_strtof(const char *s, char **end);
/* format.c */
int sundew_model_vsnprintf(char *to, size_t room, const char *format, va_list ap);
int sundew_model_snprintf(char *to, size_t room, const char *format, ...);
int sundew_model_vsprintf(char *to, const char *format, va_list ap);
int sundew_model_sprintf(char *to, const char *format, ...);
int sundew_model_vasprintf(char **to, const char *format, va_list ap);
int sundew_model_asprintf(char **to, const char *format, ...);
/* io.c */
ssize_t sundew_model_read(int fd, void *to, size_t n);
ssize_t sundew_model_pread(int fd, void *to, size_t n, off_t offset);
ssize_t sundew_model_readv(int fd, const struct iovec *v, int n);
ssize_t sundew_model_recv(int fd, void *to, size_t n, int flags);
ssize_t sundew_model_recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from,
                              socklen_t *len);
int sundew_model_socketpair(int domain, int type, int protocol, int *ends);
ssize_t sundew_model_send(int fd, const void *from, size_t n, int flags);
long sundew_model_syscall(long number, ...);
ssize_t sundew_model_write(int fd, const void *from, size_t n);
ssize_t sundew_model_pwrite(int fd, const void *from, size_t n, off_t offset);
void *sundew_model_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int sundew_model_getc(FILE *f);
int sundew_model_getchar(void);
size_t sundew_model_fread(void *to, size_t size, size_t n, FILE *f);
char *sundew_model_fgets(char *to, int n, FILE *f);
char *sundew_model_gets(char *to);
ssize_t sundew_model_getdelim(char **line, size_t *n, int delimiter, FILE *f);
ssize_t sundew_model_getline(char **line, size_t *n, FILE *f);
int sundew_model_fseek(FILE *f, long offset, int whence);
int sundew_model_fseeko(FILE *f, off_t offset, int whence);
void sundew_model_rewind(FILE *f);
int sundew_model_fsetpos(FILE *f, const fpos_t *at);
int sundew_model_fclose(FILE *f);
size_t sundew_model_fwrite(const void *from, size_t size, size_t n, FILE *f);
int sundew_model_fputs(const char *s, FILE *f);
int sundew_model_fputc(int c, FILE *f);
int sundew_model_vfprintf(FILE *f, const char *format, va_list ap);
int sundew_model_fprintf(FILE *f, const char *format, ...);
int sundew_model_dprintf(int fd, const char *format, ...);
/* maths.c */
double sundew_model_sin(double a);
double sundew_model_cos(double a);
double sundew_model_tan(double a);
double sundew_model_asin(double a);
double sundew_model_acos(double a);
double sundew_model_atan(double a);
double sundew_model_sinh(double a);
double sundew_model_cosh(double a);
double sundew_model_tanh(double a);
double sundew_model_exp(double a);
double sundew_model_exp2(double a);
double sundew_model_log(double a);
double sundew_model_log2(double a);
double sundew_model_log10(double a);
double sundew_model_cbrt(double a);
double sundew_model_pow(double a, double b);
double sundew_model_atan2(double a, double b);
double sundew_model_hypot(double a, double b);
float sundew_model_sinf(float a);
float sundew_model_cosf(float a);
float sundew_model_tanf(float a);
float sundew_model_expf(float a);
float sundew_model_logf(float a);
float sundew_model_log2f(float a);
float sundew_model_log10f(float a);
float sundew_model_powf(float a, float b);
float sundew_model_atan2f(float a, float b);
double sundew_model_sqrt(double a);
float sundew_model_sqrtf(float a);
double sundew_model_fabs(double a);
float sundew_model_fabsf(float a);
double sundew_model_floor(double a);
double sundew_model_ceil(double a);
double sundew_model_trunc(double a);
double sundew_model_round(double a);
double sundew_model_rint(double a);
double sundew_model_nearbyint(double a);
float sundew_model_floorf(float a);
float sundew_model_ceilf(float a);
float sundew_model_roundf(float a);
long sundew_model_lround(double a);
long sundew_model_lrint(double a);
double sundew_model_fmin(double a, double b);
double sundew_model_fmax(double a, double b);
/* memory.c */
void *sundew_model_memcpy(void *to, const void *from, size_t n);
void *sundew_model_mempcpy(void *to, const void *from, size_t n);
void *sundew_model_memmove(void *to, const void *from, size_t n);
void *sundew_model_memset(void *to, int c, size_t n);
void sundew_model_bzero(void *to, size_t n);
void sundew_model_bcopy(const void *from, void *to, size_t n);
int sundew_model_memcmp(const void *a, const void *b, size_t n);
void *sundew_model_memchr(const void *s, int c, size_t n);
void *sundew_model_memrchr(const void *s, int c, size_t n);
void *sundew_model_rawmemchr(const void *s, int c);
void *sundew_model_memccpy(void *to, const void *from, int c, size_t n);
void *sundew_model_memmem(const void *s, size_t n, const void *what, size_t k);
uint32_t sundew_model_htonl(uint32_t v);
uint16_t sundew_model_htons(uint16_t v);
void sundew_model_swab(const void *from, void *to, ssize_t n);
size_t sundew_model_wcslen(const wchar_t *s);
size_t sundew_model_wcsnlen(const wchar_t *s, size_t most);
int sundew_model_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n);
int sundew_model_wcscmp(const wchar_t *a, const wchar_t *b);
int sundew_model_wmemcmp(const wchar_t *a, const wchar_t *b, size_t n);
wchar_t *sundew_model_wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *sundew_model_wcsncpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *sundew_model_wcscat(wchar_t *to, const wchar_t *from);
wchar_t *sundew_model_wcschr(const wchar_t *s, wchar_t c);
wchar_t *sundew_model_wcsrchr(const wchar_t *s, wchar_t c);
wchar_t *sundew_model_wmemcpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *sundew_model_wmemmove(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *sundew_model_wmemset(wchar_t *to, wchar_t c, size_t n);
/* numbers.c */
long sundew_model_strtol(const char *s, char **end, int base);
long long sundew_model_strtoll(const char *s, char **end, int base);
unsigned long sundew_model_strtoul(const char *s, char **end, int base);
unsigned long long sundew_model_strtoull(const char *s, char **end, int base);
int sundew_model_atoi(const char *s);
long sundew_model_atol(const char *s);
long long sundew_model_atoll(const char *s);
int sundew_model_abs(int v);
long sundew_model_labs(long v);
long long sundew_model_llabs(long long v);
div_t sundew_model_div(int a, int b);
ldiv_t sundew_model_ldiv(long a, long b);
int sundew_model_ffs(int v);
/* random.c */
void sundew_model_srand(unsigned seed);
int sundew_model_rand(void);
void sundew_model_srandom(unsigned seed);
long sundew_model_random(void);
int sundew_model_rand_r(unsigned *seed);
/* scan.c */
int sundew_model_vsscanf(const char *s, const char *format, va_list ap);
int sundew_model_sscanf(const char *s, const char *format, ...);
int sundew_model_vfscanf(FILE *f, const char *format, va_list ap);
int sundew_model_fscanf(FILE *f, const char *format, ...);
int sundew_model_vscanf(const char *format, va_list ap);
int sundew_model_scanf(const char *format, ...);
/* sort.c */
void sundew_model_qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *), void *arg);
void sundew_model_qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
void *sundew_model_bsearch(const void *key, const void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
/* strings.c */
size_t sundew_model_strlen(const char *s);
size_t sundew_model_strnlen(const char *s, size_t most);
int sundew_model_strcmp(const char *a, const char *b);
int sundew_model_strncmp(const char *a, const char *b, size_t n);
int sundew_model_strcasecmp(const char *a, const char *b);
int sundew_model_strncasecmp(const char *a, const char *b, size_t n);
int sundew_model_strcoll(const char *a, const char *b);
char *sundew_model_stpcpy(char *to, const char *from);
char *sundew_model_strcpy(char *to, const char *from);
char *sundew_model_stpncpy(char *to, const char *from, size_t n);
char *sundew_model_strncpy(char *to, const char *from, size_t n);
char *sundew_model_strcat(char *to, const char *from);
char *sundew_model_strncat(char *to, const char *from, size_t n);
char *sundew_model_strdup(const char *s);
char *sundew_model_strndup(const char *s, size_t n);
size_t sundew_model_strlcpy(char *to, const char *from, size_t n);
char *sundew_model_strchr(const char *s, int c);
char *sundew_model_strchrnul(const char *s, int c);
char *sundew_model_strrchr(const char *s, int c);
size_t sundew_model_strspn(const char *s, const char *set);
size_t sundew_model_strcspn(const char *s, const char *set);
char *sundew_model_strpbrk(const char *s, const char *set);
char *sundew_model_strstr(const char *s, const char *what);
char *sundew_model_strcasestr(const char *s, const char *what);
char *sundew_model_strtok_r(char *s, const char *set, char **state);
char *sundew_model_strtok(char *s, const char *set);
char *sundew_model_strsep(char **s, const char *set);
#endif
