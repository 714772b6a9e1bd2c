/*
 * The commands that are no technique, each a row: capturing, showing what a
 * capture knows, findings from the store, and the tool itself.
 */
#ifndef SUNDEW_COMMAND_ROWS_H
#define SUNDEW_COMMAND_ROWS_H
#include "session/command.h"

extern const Command command_check, command_observe;
extern const Command command_capture, command_cc;
extern const Command command_show_programs, command_show_units, command_show_commands,
    command_show_functions, command_show_types, command_show_externals, command_show_handles,
    command_show_calls, command_show_points_to;
extern const Command command_record, command_show_trace, command_show_usage, command_show_api,
    command_show_protocols;
extern const Command command_report, command_explain, command_baseline_set, command_baseline_prune;
extern const Command command_doctor, command_help, command_version;
#endif
