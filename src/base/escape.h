/*
 * escape - the only ways for program-controlled bytes to leave Sundew.
 *
 * Names, strings and file contents come from programs under test and are
 * hostile. Each place where they go has one function; nothing else may write
 * them there. (SQL has none: values are always bound, never pasted. JSON goes
 * through base/json.h, which uses escape_utf8.)
 *
 * Each appends to a Str and takes bytes with a length; the _z forms take a
 * NUL-terminated string. Bytes that are not valid UTF-8 survive visibly.
 */
#ifndef SUNDEW_ESCAPE_H
#define SUNDEW_ESCAPE_H
#include "base/str.h"

/* Terminal: control characters, DEL, C1 and bidirectional overrides become
 * \x1b and the like; a tab and everything printable stay. */
void escape_terminal(Str *out, const char *s, size_t n);
void escape_terminal_z(Str *out, const char *s);

/* HTML text and double-quoted attribute values; other controls as U+2400… */
void escape_html(Str *out, const char *s, size_t n);
void escape_html_z(Str *out, const char *s);

/* Valid UTF-8, other bytes as U+FFFD; for JSON, SARIF and XML writers. */
void escape_utf8(Str *out, const char *s, size_t n);

/* XML text and attribute values (JUnit): as HTML, on one line, and no
 * characters that XML forbids. */
void escape_xml(Str *out, const char *s, size_t n);
void escape_xml_z(Str *out, const char *s);

/* The inside of a C string literal: \n, \t, \r, \", \', \\, \?; all else than plain
 * characters as \ooo; no trigraphs. Safe in a char literal too. */
void escape_c_string(Str *out, const char *s, size_t n);
/* The inside of a C comment: one line, no end of comment, no line splice, no trigraph, no "?>". The
 * escapes of a string in it stay. */
void escape_c_comment(Str *out, const char *s, size_t n);
/* A file after #include, in its quotes. Names have no escapes there: one with a quote is in <>, and what
 * can't be written at all becomes a name that doesn't exist. */
void escape_c_include(Str *out, const char *path);
/* A C identifier: [A-Za-z0-9_], not beginning with a digit, no keyword. */
void escape_c_identifier(Str *out, const char *s, size_t n);

/* One word of a POSIX shell command. */
void escape_shell(Str *out, const char *s);

/* The same in a makefile: in a line of a recipe, and as a word of a variable (NAME = …)
 * that recipes use. A new line, which make can't have there, becomes a space. The path of
 * the makefile itself must not be pasted by make: "$(CURDIR)" is read by the shell. */
void escape_make_recipe(Str *out, const char *s);
void escape_make_variable(Str *out, const char *s);
/* One argument in a CMakeLists.txt; the inside of a '…' string of Meson. */
void escape_cmake(Str *out, const char *s);
void escape_meson(Str *out, const char *s);

/* A GitHub workflow command's message, or with `property` one of its
 * properties. */
void escape_annotation(Str *out, const char *s, bool property);

/* The description of a TAP line: as for a terminal, and no directive. */
void escape_tap(Str *out, const char *s);

/* A path in a URI: all but unreserved characters and '/' percent-encoded. */
void escape_uri(Str *out, const char *s);

/* Inside a double-quoted Graphviz string. */
void escape_dot(Str *out, const char *s);

/* The length of the valid UTF-8 sequence at s (1 to 4), 0 if there is none;
 * the code point goes to *cp. */
size_t utf8_decode(const char *s, size_t n, unsigned *cp);
void utf8_encode(Str *out, unsigned cp);
/* Characters that change the direction of text or are invisible: they make
 * what a person reads differ from what is there. */
bool utf8_is_deceiving(unsigned cp);
#endif
