/*
 * main - from argv to an exit status: 0 nothing found, 1 findings, 2 the
 * command could not do its work, 130 interrupted.
 */
#ifndef SUNDEW_MAIN_H
#define SUNDEW_MAIN_H
#include "finding/output.h"
#include "finding/store.h"
#include "base/str.h"
#include "session/command.h"

int session_main(const Command *const *commands, int argc, char **argv);

/* For the commands about commands. */
const Command *const *session_commands(Session *s);
const Rule *const *session_rules(Session *s);          /* of all commands */
bool session_help(Session *s, const char *name, Str *out, Err *err);
bool session_man_pages(Session *s, const char *folder, Err *err);
bool session_completion(Session *s, const char *shell, Str *out, Err *err);

/* For all outputs of a command that has run others; must live until session_write(). */
void session_overview(Session *s, const Overview *overview);
/* Writes findings in the formats that the options name: one to standard
 * output, others to files. */
bool session_write(Session *s, const FindingSet *set, Err *err);
#endif
