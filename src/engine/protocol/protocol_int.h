/* What the files about automata share. */
#ifndef SUNDEW_PROTOCOL_INT_H
#define SUNDEW_PROTOCOL_INT_H
#include "engine/protocol/protocol.h"

typedef enum { EDGE_PIN, EDGE_DELETE, EDGE_FORBID } EdgeWish;

typedef struct EdgeRule {
    EdgeWish wish;
    const char *type, *from, *to;
} EdgeRule;

struct Protocols {
    const ProtoApi *api;
    Vec(Protocol *) all;         /* by the order in which they were first seen */
    Map by_types;                /* → Protocol */
    Map seen;                    /* protocols that this run has counted for */
    Vec(EdgeRule) rules;
    Arena arena;
};

enum { PROTO_MOST_PARAMS = 8 };

/* The protocol of a multiset of types, sorted; made if it is not there. */
Protocol *protocol_of(Protocols *ps, const char *const *types, unsigned n);
/* -1: not there; made with `make`. */
int protocol_label(Protocols *ps, Protocol *p, const ProtoLabel *l, bool make);
int protocol_state(Protocol *p, int older, int newer, unsigned bound, bool make);
void protocol_edge(Protocol *p, unsigned from, unsigned label, unsigned to, uint64_t count);
/* What a user said of `to` after `from`; NULL: nothing. */
const EdgeRule *protocols_rule(const Protocols *ps, const Protocol *p, const char *from,
                               const char *to);
#endif
