/*
 * The little that is read from executables: is a sanitizer inside, and which
 * function is at a place. Runs inside the sandbox, since the files are the
 * subject's; every offset is checked against the file's size all the same.
 */
#include "run/run_int.h"
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_IMAGE = 1 << 30 };

typedef struct Image {
    uint8_t *bytes;
    size_t size;
} Image;

/* Copied, not mapped: a subject may make its file shorter while we look. */
static bool read_image(Image *im, int fd, size_t size)
{
    im->bytes = malloc(size);
    for (ssize_t n; im->bytes && im->size < size; im->size += (size_t)n)
        if ((n = read(fd, im->bytes + im->size, size - im->size)) <= 0)
            break;
    if (im->size > 64)
        return true;
    free(im->bytes);
    return false;
}

static bool image_open(Image *im, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 64 &&
              st.st_size <= MOST_IMAGE;
    if (ok)
        ok = read_image(im, fd, (size_t)st.st_size);
    close(fd);
    return ok;
}

static void image_close(Image *im) { free(im->bytes); }

bool elf_has_sanitizer(const char *path)
{
    static const char *const marks[] = { "__asan_init", "__lsan_init", "__tsan_init", "__msan_init",
                                         "__hwasan_init" };
    Image im = { 0 };
    bool found = false;
    if (!image_open(&im, path))
        return false;
    for (size_t i = 0; !found && i < sizeof marks / sizeof *marks; i++)
        found = memmem(im.bytes, im.size, marks[i], strlen(marks[i])) != NULL;
    image_close(&im);
    return found;
}

/* `n` things of `size` bytes at `offset`, or NULL if the file is shorter. */
static const void *part(const Image *im, uint64_t offset, uint64_t n, size_t size)
{
    if (offset > im->size || n > (im->size - offset) / size)
        return NULL;
    return im->bytes + offset;
}

static const Elf64_Ehdr *header(const Image *im)
{
    const Elf64_Ehdr *h = part(im, 0, 1, sizeof *h);
    return h && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64
               ? h
               : NULL;
}

static uint64_t address_of(const Image *im, const Elf64_Ehdr *h, uint64_t offset)
{
    const uint8_t *table = part(im, h->e_phoff, h->e_phnum, sizeof(Elf64_Phdr));
    for (size_t i = 0; table && i < h->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, table + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
            return offset - p.p_offset + p.p_vaddr;
    }
    return offset;
}

/* The last function that begins at or before the address and reaches over it. */
static const char *symbol_in(Arena *a, const Image *im, const Elf64_Shdr *table,
                             const Elf64_Shdr *names, uint64_t address)
{
    uint64_t n = table->sh_size / sizeof(Elf64_Sym);
    const uint8_t *symbols = part(im, table->sh_offset, n, sizeof(Elf64_Sym));
    const char *text = part(im, names->sh_offset, names->sh_size, 1);
    for (uint64_t i = 0; symbols && text && i < n; i++) {
        Elf64_Sym s;
        memcpy(&s, symbols + i * sizeof s, sizeof s);
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
            address < s.st_value || address - s.st_value >= s.st_size ||
            s.st_name >= names->sh_size)
            continue;
        return arena_strndup(a, text + s.st_name,
                             strnlen(text + s.st_name, names->sh_size - s.st_name));
    }
    return NULL;
}

static const char *symbol_at(Arena *a, const Image *im, const Elf64_Ehdr *h, uint64_t address)
{
    const uint8_t *table = part(im, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr));
    static const uint32_t kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
    for (size_t k = 0; table && k < 2; k++)
        for (size_t i = 0; i < h->e_shnum; i++) {
            Elf64_Shdr s, names;
            memcpy(&s, table + i * sizeof s, sizeof s);
            if (s.sh_type != kinds[k] || s.sh_link >= h->e_shnum)
                continue;
            memcpy(&names, table + s.sh_link * sizeof s, sizeof names);
            const char *name = symbol_in(a, im, &s, &names, address);
            if (name)
                return name;
        }
    return NULL;
}

uint64_t elf_locate(Arena *a, const char *path, uint64_t file_offset, const char **function)
{
    Image im = { 0 };
    uint64_t address = file_offset;
    *function = NULL;
    if (!image_open(&im, path))
        return address;
    const Elf64_Ehdr *h = header(&im);
    if (h) {
        address = address_of(&im, h, file_offset);
        *function = symbol_at(a, &im, h, address);
    }
    image_close(&im);
    return address;
}
