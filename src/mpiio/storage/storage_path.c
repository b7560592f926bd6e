#include "mpiio/storage/storage.h"

#include <string.h>
#include <strings.h>

/* The words that MPI-IO implementations know before a colon. Any other colon is part of a file's name. */
static const char *const PREFIXES[] = {"ufs",       "nfs",    "xfs",   "pfs",  "piofs",  "sfs",    "hfs",     "panfs",
                                       "pvfs2",     "lustre", "gpfs",  "daos", "testfs", "zoidfs", "gridftp", "ime",
                                       "quobytefs", "ext",    "posix", "unix", "file",   "piolet"};

const char *storage_path(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon)
        return name;
    const size_t length = (size_t)(colon - name);
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++)
        if (strlen(PREFIXES[i]) == length && strncasecmp(name, PREFIXES[i], length) == 0)
            return colon + 1;
    return name;
}
