/* What only the files of src/project/ share. */
#ifndef SUNDEW_PROJECT_INT_H
#define SUNDEW_PROJECT_INT_H
#include "base/str.h"
#include "project/project.h"

enum { MOST_PROGRAMS = 24 };

struct Project {
    ProjectPlan plan;
    Workspace *ws;
    Arena arena;
    char *folder;                    /* .sundew/check */
    Vec(ProjectProgram) programs;
    size_t left_out;
    const Program **models;          /* one a program; NULL: not opened yet */
    bool *tried;
    ProjectHeaders *headers;
    bool *headers_known;
    ObservedRuns runs;
    Vec(ProjectShape) shapes;
    bool shapes_known;
    Strings tree;                    /* all files below the root, relative */
    bool tree_known;
    Map files;                       /* ending -> Strings * */
    Vec(Product) products;
    FindingSet *findings;
    const char *build_key, *tests_key;
};

/* headers.c */
void headers_find(Project *p, const ProjectProgram *library, ProjectHeaders *out);
/* shapes.c */
void shapes_find(Project *p);
const Strings *project_tree(Project *p);
#endif
