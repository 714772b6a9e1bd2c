/*
 * debuginfo - the debug metadata of a module, read from its bitcode.
 *
 * LLVM's C interface shows neither tags nor encodings nor enumerators nor
 * bit-fields, so the metadata blocks are read here, from the bitcode that LLVM
 * wrote (bitstream.h). Each metadata entry is a node with its record's operands
 * as they are in the file; operands that refer to other nodes go through
 * debug_ref(). Only what types, functions and variables need is kept.
 *
 * Nodes are numbered through the whole file: first those of the module, then
 * those that belong to one function each.
 */
#ifndef SUNDEW_DEBUGINFO_H
#define SUNDEW_DEBUGINFO_H
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>

typedef uint32_t NodeId;                  /* index into nodes */
#define NO_NODE ((NodeId) - 1)

/* Record codes of the metadata block. */
typedef enum {
    MD_VALUE = 2,
    MD_NODE = 3,
    MD_NAME = 4,
    MD_DISTINCT_NODE = 5,
    MD_KIND = 6,
    MD_NAMED_NODE = 10,
    MD_ATTACHMENT = 11,
    MD_SUBRANGE = 13,
    MD_ENUMERATOR = 14,
    MD_BASIC_TYPE = 15,
    MD_FILE = 16,
    MD_DERIVED_TYPE = 17,
    MD_COMPOSITE_TYPE = 18,
    MD_SUBROUTINE_TYPE = 19,
    MD_COMPILE_UNIT = 20,
    MD_SUBPROGRAM = 21,
    MD_GLOBAL_VAR = 27,
    MD_LOCAL_VAR = 28,
    MD_STRINGS = 35,
    MD_GLOBAL_DECL_ATTACHMENT = 36,
    MD_GLOBAL_VAR_EXPR = 37,
    MD_INDEX_OFFSET = 38,
    MD_INDEX = 39,
    MD_STRING = 1,                        /* a node out of MD_STRINGS */
} MdCode;

/* Operands by position. Those marked * refer to nodes. [0] holds flags such as
 * "distinct". */
enum {
    BASIC_TAG = 1,
    BASIC_NAME /* * */,
    BASIC_SIZE,
    BASIC_ALIGN,
    BASIC_ENCODING,
};
enum {
    DERIVED_TAG = 1,
    DERIVED_NAME /* * */,
    DERIVED_FILE /* * */,
    DERIVED_LINE,
    DERIVED_SCOPE /* * */,
    DERIVED_BASE /* * */,
    DERIVED_SIZE,
    DERIVED_ALIGN,
    DERIVED_OFFSET,
    DERIVED_FLAGS,
};
enum {                                    /* as DERIVED_… up to the flags */
       COMPOSITE_ELEMENTS /* * */ = 11,
};
enum { SUBROUTINE_FLAGS = 1, SUBROUTINE_TYPES /* * */ };
enum { FILE_NAME /* * */ = 1, FILE_DIRECTORY /* * */ };
enum { SUBRANGE_COUNT /* * */ = 1, SUBRANGE_LOWER, SUBRANGE_UPPER };
enum { ENUMERATOR_BITS = 1, ENUMERATOR_NAME /* * */, ENUMERATOR_VALUE };
enum {
    SUBPROGRAM_SCOPE = 1,
    SUBPROGRAM_NAME /* * */,
    SUBPROGRAM_LINKAGE_NAME,
    SUBPROGRAM_FILE /* * */,
    SUBPROGRAM_LINE,
    SUBPROGRAM_TYPE /* * */,
    SUBPROGRAM_FLAGS = 11,
};
enum {
    GLOBAL_SCOPE = 1,
    GLOBAL_NAME /* * */,
    GLOBAL_LINKAGE_NAME,
    GLOBAL_FILE /* * */,
    GLOBAL_LINE,
    GLOBAL_TYPE /* * */,
};
enum {
    LOCAL_SCOPE /* * */ = 1,
    LOCAL_NAME /* * */,
    LOCAL_FILE,
    LOCAL_LINE,
    LOCAL_TYPE /* * */,
    LOCAL_ARG,
};
enum {
    FLAG_FORWARD = 1 << 2,
    FLAG_PROTOTYPED = 1 << 8,
    FLAG_VECTOR = 1 << 11,
    FLAG_BIT_FIELD = 1 << 19,
};

typedef struct DebugNode {
    uint8_t code;             /* MdCode; 0: nothing that is kept */
    uint32_t nops;
    uint32_t base;            /* where ids beyond the module's begin */
    size_t first;             /* in `pool`; of a string: its offset in `text` */
} DebugNode;

typedef struct DebugFunction {
    const char *symbol;
    NodeId subprogram;        /* or NO_NODE */
    NodeId params_begin, params_end;   /* its own nodes: local variables */
} DebugFunction;

typedef struct DebugVariable {
    const char *symbol;
    NodeId variable;          /* MD_GLOBAL_VAR, or NO_NODE */
} DebugVariable;

typedef struct DebugInfo {
    Vec(DebugNode) nodes;
    Vec(uint64_t) pool;
    Str text;                 /* of all strings; each ends with NUL */
    uint32_t nmodule;         /* nodes of the module itself */
    Vec(DebugFunction) functions;
    Vec(DebugVariable) variables;
    Vec(int64_t) constants;   /* by value number */
    Arena arena;
    Map files;                /* NodeId -> path */
} DebugInfo;

bool debuginfo_read(DebugInfo *d, const void *bitcode, size_t n, Err *err);
void debuginfo_release(DebugInfo *d);

/* Operand `op` of a node; 0 if it has no such. */
uint64_t debug_op(const DebugInfo *d, NodeId node, unsigned op);
/* The node that operand `op` refers to; NO_NODE: none. */
NodeId debug_ref(const DebugInfo *d, NodeId node, unsigned op);
MdCode debug_code(const DebugInfo *d, NodeId node);     /* 0 for NO_NODE */
/* A string operand; "" if there is none. */
const char *debug_text(const DebugInfo *d, NodeId node, unsigned op);
/* The absolute path of a MD_FILE; "" for others. */
const char *debug_path(DebugInfo *d, NodeId file);
/* An MD_VALUE that is an integer constant. */
bool debug_constant(const DebugInfo *d, NodeId node, int64_t *value);
/* A signed number as records hold it. */
int64_t debug_signed(uint64_t v);
#endif
