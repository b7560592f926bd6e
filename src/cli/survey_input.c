/* The keyword files of a survey. They stay with the results: 'piolet run' takes them again. */
#include "cli/survey.h"

struct sizes {
    int repeat;
    const char *curves; /* file and block sizes in MB, each with its count */
    int edge;           /* of a matrix: ranks times so many elements, by so many; a cube has 1/8 of it */
    const char *blocks; /* of nonseq */
    double file_mb;     /* of nonseq and sharedfp */
};

static const struct sizes SIZES[SURVEY_FORMS] = {
    [SURVEY_QUICK] = {1, "numfilesize 1\nfilesize 2\nnumblocksize 2\nblocksize 0.064 1\n", 128,
                      "numblocksize 1\nblocksize 0.064\n", 2},
    [SURVEY_DEFAULT] = {2, "numfilesize 2\nfilesize 16 64\nnumblocksize 3\nblocksize 0.004 0.064 4\n", 512,
                        "numblocksize 2\nblocksize 0.004 0.064\n", 16},
    [SURVEY_FULL] = {5, "numfilesize 3\nfilesize 16 128 1024\nnumblocksize 5\nblocksize 0.004 0.016 0.064 1 4\n", 2048,
                     "numblocksize 2\nblocksize 0.004 0.064\n", 256},
};

static void begin_block(struct text *text, const char *class_name, const char *testname, const char *file, int repeat)
{
    text_format(text, "\nclassname %s\ntestname %s\nfilename %s\nrepeat %d\n", class_name, testname, file, repeat);
}

void survey_curves(const struct survey_request *request, struct text *text)
{
    static const struct {
        const char *test, *collective;
    } tests[] = {
        {"sinunix", ""}, {"single", ""}, {"multiple", "collective false\n"}, {"multiple", "collective true\n"}};
    const struct sizes *sizes = &SIZES[request->form];
    text_add(text,
             "# One process and all, plain UNIX and MPI-IO, small blocks and large ones. Sizes in MB = 10^6 bytes.\n"
             "timingsfilename curves.out\n");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        begin_block(text, "Lowlevel", tests[i].test, "curves.dat", sizes->repeat);
        text_format(text, "%s%s", sizes->curves, tests[i].collective);
    }
}

void survey_kernels(const struct survey_request *request, struct text *text)
{
    const struct sizes *sizes = &SIZES[request->form];
    const int edge = sizes->edge, ranks = request->ranks;
    text_add(text, "# How programs access files: matrices, random places, the shared file pointer.\n"
                   "timingsfilename kernels.out\n");
    for (int collective = 0; collective < 2; collective++) {
        begin_block(text, "Kernel", "matrix2D", "kernels.dat", sizes->repeat);
        text_format(text, "numsizes 1\nxsize %d\nysize %d\nnumprocgrids 1\nxproc %d\nyproc 1\ncollective %s\n",
                    ranks * edge, edge, ranks, collective ? "true" : "false");
    }
    begin_block(text, "Kernel", "matrix3D", "kernels.dat", sizes->repeat);
    text_format(
        text, "numsizes 1\nxsize %d\nysize %d\nzsize %d\nnumprocgrids 1\nxproc %d\nyproc 1\nzproc 1\ncollective true\n",
        ranks * edge / 8, edge / 4, edge / 8, ranks);
    begin_block(text, "Kernel", "gatherscat2D", "kernels.dat", sizes->repeat);
    text_format(text, "numsizes 1\nxsize %d\nysize %d\nnumprocgrids 1\nxproc %d\nyproc 1\n", ranks * edge, edge, ranks);
    begin_block(text, "Kernel", "transpose", "kernels.dat", sizes->repeat);
    text_format(text, "numsizes 1\nxsize %d\nysize %d\ncollective true\n", ranks * edge / 2, ranks * edge / 2);
    begin_block(text, "Kernel", "nonseq", "kernels.dat", sizes->repeat);
    text_format(text, "filesize %g\n%snumupdate 1\nupdate_frac 0.5\n", sizes->file_mb, sizes->blocks);
    begin_block(text, "Kernel", "sharedfp", "kernels.dat", sizes->repeat);
    text_format(text, "filesize %g\nnumblocksize 1\nblockmin 0.004\nblockmax 0.064\n", sizes->file_mb);
}
