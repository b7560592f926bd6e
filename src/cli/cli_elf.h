/* Which MPI a program file brings along, without running it. */
#ifndef PIOLET_CLI_ELF_H
#define PIOLET_CLI_ELF_H

enum cli_elf_mpi {
    CLI_ELF_UNKNOWN, /* a script, an interpreter that loads MPI later, no MPI at all, not readable */
    CLI_ELF_MPICH,
    CLI_ELF_OPENMPI,
    CLI_ELF_STATIC /* nothing can be preloaded, or the MPI is part of the program file */
};

enum cli_elf_mpi cli_elf_mpi(const char *path);

#endif
