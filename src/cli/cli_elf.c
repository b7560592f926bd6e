#include "cli/cli_elf.h"

#include "base/process.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in memory. Its tables are never trusted: elf_part() tells whether they lie inside, and straight. */
struct image {
    const char *bytes;
    size_t size;
};

static const void *elf_part(const struct image *image, uint64_t offset, uint64_t size)
{
    const bool inside = offset <= image->size && size <= image->size - offset;
    return inside && offset % sizeof(uint64_t) == 0 ? image->bytes + offset : NULL;
}

/* The text at `offset`, if it ends inside of the file. */
static const char *text_at(const struct image *image, uint64_t offset)
{
    if (offset >= image->size || !memchr(image->bytes + offset, '\0', image->size - offset))
        return NULL;
    return image->bytes + offset;
}

static const Elf64_Ehdr *header_of(const struct image *image)
{
    const Elf64_Ehdr *header = elf_part(image, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    return header->e_phentsize == sizeof(Elf64_Phdr) ? header : NULL;
}

/* The dynamic linker that the program asks for; NULL: none. */
static const char *interpreter_of(const struct image *image, const Elf64_Ehdr *header)
{
    const Elf64_Phdr *segments = elf_part(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments);
    for (int i = 0; segments && i < header->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            return text_at(image, segments[i].p_offset);
    return NULL;
}

static bool elf_defines(const struct image *image, const Elf64_Shdr *symbols, const Elf64_Shdr *strings,
                        const char *name)
{
    const Elf64_Sym *symbol = elf_part(image, symbols->sh_offset, symbols->sh_size);
    for (uint64_t i = 0; symbol && i < symbols->sh_size / sizeof *symbol; i++) {
        if (symbol[i].st_shndx == SHN_UNDEF)
            continue;
        const char *text = text_at(image, strings->sh_offset + symbol[i].st_name);
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static bool has_mpi_inside(const struct image *image, const Elf64_Ehdr *header)
{
    const Elf64_Shdr *sections = elf_part(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    for (int i = 0; sections && header->e_shentsize == sizeof *sections && i < header->e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < header->e_shnum &&
            elf_defines(image, &sections[i], &sections[sections[i].sh_link], "PMPI_Init"))
            return true;
    return false;
}

/* By `interpreter --list path`, which tells the libraries and runs nothing. Without LD_PRELOAD: a library of ours would
 * bring its MPI into the list. */
static enum cli_elf_mpi mpi_of_libraries(const char *interpreter, const char *path)
{
    const char *const words[] = {interpreter, "--list", path, NULL};
    enum cli_elf_mpi found = CLI_ELF_UNKNOWN;
    struct text list = {0};
    struct pl_error ignored; /* it fails where one library is missing: the others are in the list */
    process_read(words, "LD_PRELOAD", &list, &ignored);
    char *rest = list.failed ? NULL : list.data;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strstr(line, "libmpich.so") || strstr(line, "libmpi.so.12"))
            found = CLI_ELF_MPICH;
        else if (strstr(line, "libopen-pal.so") || strstr(line, "libmpi.so.40"))
            found = CLI_ELF_OPENMPI;
    text_clear(&list);
    return found;
}

static enum cli_elf_mpi mpi_of_image(const struct image *image, const char *path)
{
    const Elf64_Ehdr *header = header_of(image);
    if (!header)
        return CLI_ELF_UNKNOWN;
    const char *interpreter = interpreter_of(image, header);
    if (!interpreter)
        return CLI_ELF_STATIC;
    const enum cli_elf_mpi found = mpi_of_libraries(interpreter, path);
    return found == CLI_ELF_UNKNOWN && has_mpi_inside(image, header) ? CLI_ELF_STATIC : found;
}

enum cli_elf_mpi cli_elf_mpi(const char *path)
{
    struct stat info;
    enum cli_elf_mpi found = CLI_ELF_UNKNOWN;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return found;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            found = mpi_of_image(&(struct image){bytes, (size_t)info.st_size}, path);
            munmap(bytes, (size_t)info.st_size);
        }
    }
    close(fd);
    return found;
}
