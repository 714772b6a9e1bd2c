/*
 * empty - removes what a folder holds, when somebody hostile has filled it.
 *
 * It may hold links to elsewhere, folders without permissions, folders deeper than a path can be
 * long, and names of any bytes; who filled it may still be at work. No link is followed. Other file
 * systems that are mounted inside are left alone: in a private /tmp these are the scratch folder and
 * what the user named.
 */
#ifndef SUNDEW_EMPTY_H
#define SUNDEW_EMPTY_H

/* `dir`: an open folder, which stays. */
void folder_empty(int dir);
#endif
