/*
 * wrapper - what stands in for the compiler, the archiver and the linker.
 *
 * It does what the build asked for, with the program and the words that the
 * build chose, and beside it makes bitcode and notes what was linked. Nothing
 * that goes wrong on our side can fail the build or change what it prints.
 *
 *   SUNDEW_WORKSPACE   the workspace; else the one whose shims/ we were called
 *                      from; else the nearest one
 *   SUNDEW_LOG         a file that gets a line for each thing done
 *   SUNDEW_CC          the compiler behind `sundew cc`; else cc
 *   SUNDEW_TOOLS       where the real tools are, if we are mounted over them
 *   SUNDEW_INSIDE      set by us for what a real tool calls: it is not captured again
 */
#ifndef SUNDEW_WRAPPER_H
#define SUNDEW_WRAPPER_H
#include <stdbool.h>

int wrapper_main(int argc, char **argv);

/* What a program called by this name is to us. */
typedef enum {
    TOOL_NONE,
    TOOL_CC,
    TOOL_CXX,
    TOOL_AR,
    TOOL_LD,
    TOOL_LAUNCHER,             /* ccache gcc … */
} ToolKind;
ToolKind tool_kind(const char *name);
#endif
