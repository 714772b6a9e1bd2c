/* The command table. A technique is one line here and its folder. */
#include "command/command_rows.h"
#include "session/main.h"
#include "technique/arguments/arguments.h"
#include "technique/events/events.h"
#include "technique/confirm/confirm.h"
#include "technique/examples/examples.h"
#include "technique/explore/explore.h"
#include "technique/invariants/invariants.h"
#include "technique/monitor/monitor.h"
#include "technique/mutability/mutability.h"
#include "technique/protocols/protocols.h"
#include "technique/regress/regress.h"
#include "technique/reproduce/reproduce.h"
#include "technique/substitutes/substitutes.h"
#include "technique/threads/threads.h"
#include "technique/types/types.h"
#include "technique/web/web.h"

static const Command *const commands[] = {
    &command_check,
    &command_observe,
    &command_capture,
    &command_cc,
    &command_show_programs,
    &command_show_units,
    &command_show_commands,
    &command_show_functions,
    &command_show_types,
    &command_show_calls,
    &command_show_externals,
    &command_show_points_to,
    &command_show_handles,
    &command_show_trace,
    &command_show_usage,
    &command_show_api,
    &command_show_protocols,
    &command_record,
    &technique_arguments,
    &technique_mutability,
    &technique_types,
    &technique_web,
    &technique_explore,
    &technique_invariants,
    &technique_monitor,
    &technique_reproduce,
    &technique_regress,
    &technique_threads,
    &technique_protocols,
    &technique_examples,
    &technique_events,
    &technique_confirm,
    &technique_substitutes,
    &command_report,
    &command_baseline_set,
    &command_baseline_prune,
    &command_explain,
    &command_doctor,
    &command_help,
    &command_version,
    NULL,
};

int main(int argc, char **argv) { return session_main(commands, argc, argv); }
