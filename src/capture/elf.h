/*
 * elf - unit ids in object files.
 *
 * Each object that was compiled under capture has a section .sundew with one
 * record of 40 bytes:
 *
 *     "SUNDEW1 " 32 hexadecimal digits
 *
 * It is not loaded at run time, and the linker concatenates the sections of
 * its inputs, so that a program, a shared library, an archive's members and a
 * copy of each tell by themselves which units they are made of.
 *
 * ELF of 32 and 64 bits and both byte orders is understood. Everything here
 * takes files from strangers: all offsets are checked.
 */
#ifndef SUNDEW_ELF_H
#define SUNDEW_ELF_H
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

typedef enum {
    ELF_NONE,                  /* no ELF file */
    ELF_OBJECT,
    ELF_EXECUTABLE,
    ELF_SHARED,
    ELF_OTHER,
} ElfKind;

ElfKind elf_kind(const char *data, size_t n);
/* Appends the ids in the section .sundew. False: not ELF, or damaged. */
bool elf_ids(const char *data, size_t n, Strings *ids);
/* What the section .comment says about the compiler; "" if nothing. */
void elf_compiler(const char *data, size_t n, Str *out);
/* Words without a blank in its constant data, of 2 to 32 bytes, at most so many. */
void elf_words(const char *data, size_t n, size_t most, Strings *out);
/* The names that a shared library defines for others, as keys. False: not ELF, or damaged. */
bool elf_exports(const char *data, size_t n, Map *names);
/* `out` becomes the file with `ids` as its section .sundew. */
bool elf_with_ids(const char *data, size_t n, char *const *ids, size_t nids, Str *out, Err *err);

/* The members of an archive (also a thin one, whose members are files). */
typedef struct ArchiveMember {
    char *name;
    const char *data;          /* inside the archive's bytes, or `own` */
    size_t size;
    Str own;                   /* thin: the member's file */
} ArchiveMember;
typedef Vec(ArchiveMember) ArchiveMembers;

bool archive_is(const char *data, size_t n);
/* `path` is needed for thin archives. */
bool archive_members(const char *path, const char *data, size_t n, ArchiveMembers *out, Err *err);
void archive_members_release(ArchiveMembers *m);
#endif
