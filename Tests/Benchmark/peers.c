/*
 * The benchmark's peers in process: libvips through its C API, and libpng alone.
 *
 *   peers vips|vips-filtered|libpng JOB IN OUT REPEATS
 *                                            runs a job, prints the microseconds of each run
 *   peers vips version                       prints the version of the library
 *   peers tile IN OUT MEGAPIXELS             makes a large picture of copies of a small one,
 *                                            one below the other
 *   peers run PROGRAM [ARGUMENT]...          runs a program and prints, in a last line, its time in
 *                                            microseconds and its peak memory in KiB. (A process
 *                                            inherits the peak of the one that made it: this is a
 *                                            small one.)
 *
 * Jobs: copy, saturate, hueRotate, contrast, sepia, grayscale, resize (800 pixels wide), decode.
 * Each picture is read anew in each run. All options are the libraries' defaults, except
 * vips-filtered: by default libvips uses no row filters, which is quicker and makes photographs a third
 * larger; this has it use all of them, as libpng does by default. libvips is opened
 * at run time, so that PEERS_VIPS can name another version of it; it writes RGB for grayscale, as
 * its users get it who do not ask for another colour space.
 */
#include <dlfcn.h>
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *words)
{
    fprintf(stderr, "peers: %s\n", words);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL)
        die("no memory");
    return memory;
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- The jobs' maths, by the W3C's Filter Effects Module ---- */

static const struct {
    const char *job;
    double matrix[9];
} matrices[] = {
    {"saturate", /* 1.3 */
     {1.2361, -.2145, -.0216, -.0639, 1.0855, -.0216, -.0639, -.2145, 1.2784}},
    {"hueRotate", /* 90 degrees */
     {0, 0, 1, .356, .855, -.211, -.574, 1.43, .144}},
    {"sepia", /* 1 */
     {.393, .769, .189, .349, .686, .168, .272, .534, .131}},
    {"grayscale", /* 1 */
     {.2126, .7152, .0722, .2126, .7152, .0722, .2126, .7152, .0722}},
};

/* contrast 1.2 */
static const double contrast_scale = 1.2, contrast_offset = -.1 * 255;

static const double *matrix_of(const char *job)
{
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++)
        if (strcmp(job, matrices[i].job) == 0)
            return matrices[i].matrix;
    return NULL;
}

/* ---- libvips ---- */

typedef struct vips_image vips_image;

static struct {
    void *library;
    int (*init)(const char *);
    const char *(*version)(void);
    void (*cache_set_max)(int);
    const char *(*error)(void);
    vips_image *(*load)(const char *, ...);
    vips_image *(*matrix)(int, int, const double *, int);
    int (*recomb)(vips_image *, vips_image **, vips_image *, ...);
    int (*linear)(vips_image *, vips_image **, const double *, const double *, int, ...);
    int (*cast)(vips_image *, vips_image **, int, ...);
    int (*resize)(vips_image *, vips_image **, double, ...);
    int (*width)(const vips_image *);
    int (*save)(vips_image *, const char *, ...);
    void *(*decode)(vips_image *, size_t *);
    void (*unref)(void *);
    void (*free)(void *);
} vips;

static void find(void *place, const char *name)
{
    void *symbol = dlsym(vips.library, name);
    if (symbol == NULL)
        die(dlerror());
    memcpy(place, &symbol, sizeof symbol);
}

static void open_vips(void)
{
    const char *name = getenv("PEERS_VIPS");
    vips.library = dlopen(name ? name : "libvips.so.42", RTLD_NOW);
    if (vips.library == NULL)
        die(dlerror());
    find(&vips.init, "vips_init");
    find(&vips.version, "vips_version_string");
    find(&vips.cache_set_max, "vips_cache_set_max");
    find(&vips.error, "vips_error_buffer");
    find(&vips.load, "vips_image_new_from_file");
    find(&vips.matrix, "vips_image_new_matrix_from_array");
    find(&vips.recomb, "vips_recomb");
    find(&vips.linear, "vips_linear");
    find(&vips.cast, "vips_cast");
    find(&vips.resize, "vips_resize");
    find(&vips.width, "vips_image_get_width");
    find(&vips.save, "vips_pngsave");
    find(&vips.decode, "vips_image_write_to_memory");
    find(&vips.unref, "g_object_unref");
    find(&vips.free, "g_free");
    if (vips.init("peers") != 0)
        die(vips.error());
    /* Else the second run would find the first one's result. */
    vips.cache_set_max(0);
}

static void check(int result)
{
    if (result != 0)
        die(vips.error());
}

static void run_vips(const char *job, const char *in, const char *out, int filtered)
{
    const int sequential = 1, uchar = 0, all_row_filters = 0xf8;
    vips_image *image = vips.load(in, "access", sequential, NULL);
    if (image == NULL)
        die(vips.error());
    if (strcmp(job, "decode") == 0) {
        size_t bytes = 0;
        void *pixels = vips.decode(image, &bytes);
        if (pixels == NULL)
            die(vips.error());
        vips.free(pixels);
        vips.unref(image);
        return;
    }
    vips_image *changed = NULL, *result = NULL, *matrix = NULL;
    const double *coefficients = matrix_of(job);
    if (coefficients != NULL) {
        matrix = vips.matrix(3, 3, coefficients, 9);
        check(vips.recomb(image, &changed, matrix, NULL));
    } else if (strcmp(job, "contrast") == 0) {
        check(vips.linear(image, &changed, &contrast_scale, &contrast_offset, 1, NULL));
    } else if (strcmp(job, "resize") == 0) {
        check(vips.resize(image, &result, 800.0 / vips.width(image), NULL));
    } else if (strcmp(job, "copy") != 0) {
        die("no such job");
    }
    if (changed != NULL)
        check(vips.cast(changed, &result, uchar, NULL));
    if (filtered)
        check(vips.save(result != NULL ? result : image, out, "filter", all_row_filters, NULL));
    else
        check(vips.save(result != NULL ? result : image, out, NULL));
    if (matrix != NULL)
        vips.unref(matrix);
    if (changed != NULL)
        vips.unref(changed);
    if (result != NULL)
        vips.unref(result);
    vips.unref(image);
}

/* ---- libpng alone, row by row ---- */

struct picture {
    png_structp png;
    png_infop info;
    FILE *file;
    png_uint_32 width, height;
    size_t row_bytes;
};

/* Any error ends the program: these are pictures of the benchmark's own. */
static void fail(png_structp png, png_const_charp words)
{
    (void)png;
    die(words);
}

static struct picture open_png(const char *name)
{
    struct picture p = {0};
    p.file = fopen(name, "rb");
    if (p.file == NULL)
        die(name);
    p.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, NULL);
    p.info = png_create_info_struct(p.png);
    png_init_io(p.png, p.file);
    png_read_info(p.png, p.info);
    p.width = png_get_image_width(p.png, p.info);
    p.height = png_get_image_height(p.png, p.info);
    p.row_bytes = png_get_rowbytes(p.png, p.info);
    if (png_get_bit_depth(p.png, p.info) != 8
        || png_get_color_type(p.png, p.info) != PNG_COLOR_TYPE_RGB)
        die("the pictures of the benchmark must be RGB of 8 bits");
    return p;
}

static void close_reader(struct picture *p)
{
    png_read_end(p->png, NULL);
    png_destroy_read_struct(&p->png, &p->info, NULL);
    fclose(p->file);
}

static struct picture make_png(
    const char *name, png_uint_32 width, png_uint_32 height, int colour_type)
{
    struct picture p = {0};
    p.file = fopen(name, "wb");
    if (p.file == NULL)
        die(name);
    p.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, NULL);
    p.info = png_create_info_struct(p.png);
    png_init_io(p.png, p.file);
    png_set_IHDR(
        p.png, p.info, width, height, 8, colour_type, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(p.png, p.info);
    return p;
}

static void close_writer(struct picture *p)
{
    png_write_end(p->png, NULL);
    png_destroy_write_struct(&p->png, &p->info);
    fclose(p->file);
}

static uint8_t clamped(double value)
{
    value += .5;
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

static void apply(const char *job, uint8_t *row, size_t bytes)
{
    const double *m = matrix_of(job);
    if (strcmp(job, "contrast") == 0) {
        for (size_t i = 0; i < bytes; i++)
            row[i] = clamped(row[i] * contrast_scale + contrast_offset);
    } else if (strcmp(job, "grayscale") == 0) {
        for (size_t i = 0; i < bytes; i += 3)
            row[i / 3] = clamped(m[0] * row[i] + m[1] * row[i + 1] + m[2] * row[i + 2]);
    } else if (m != NULL) {
        for (size_t i = 0; i < bytes; i += 3) {
            const double r = row[i], g = row[i + 1], b = row[i + 2];
            for (int c = 0; c < 3; c++)
                row[i + (size_t)c] = clamped(m[3 * c] * r + m[3 * c + 1] * g + m[3 * c + 2] * b);
        }
    } else if (strcmp(job, "copy") != 0) {
        die("libpng alone does not do this job");
    }
}

static void run_libpng(const char *job, const char *in, const char *out)
{
    struct picture from = open_png(in);
    uint8_t *row = allocate(from.row_bytes);
    if (strcmp(job, "decode") == 0) {
        for (png_uint_32 y = 0; y < from.height; y++)
            png_read_row(from.png, row, NULL);
    } else {
        const int gray = strcmp(job, "grayscale") == 0;
        struct picture to = make_png(
            out, from.width, from.height, gray ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB);
        for (png_uint_32 y = 0; y < from.height; y++) {
            png_read_row(from.png, row, NULL);
            apply(job, row, from.row_bytes);
            png_write_row(to.png, row);
        }
        close_writer(&to);
    }
    free(row);
    close_reader(&from);
}

static void tile(const char *in, const char *out, double megapixels)
{
    struct picture from = open_png(in);
    uint8_t *pixels = allocate(from.row_bytes * from.height);
    for (png_uint_32 y = 0; y < from.height; y++)
        png_read_row(from.png, pixels + y * from.row_bytes, NULL);
    /* One below the other: beside each other they would repeat within deflate's window, as no
     * photograph does. */
    const png_uint_32 height = (png_uint_32)(megapixels * 1e6 / from.width);
    struct picture to = make_png(out, from.width, height, PNG_COLOR_TYPE_RGB);
    for (png_uint_32 y = 0; y < height; y++)
        png_write_row(to.png, pixels + y % from.height * from.row_bytes);
    close_writer(&to);
    free(pixels);
    close_reader(&from);
}

static int run(char **words)
{
    const double start = microseconds();
    const pid_t child = fork();
    if (child < 0)
        die("fork failed");
    if (child == 0) {
        execvp(words[0], words);
        die(words[0]);
    }
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child)
        die("wait4 failed");
    printf("%.0f %ld\n", microseconds() - start, usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int count, char **words)
{
    if (count >= 3 && strcmp(words[1], "run") == 0)
        return run(words + 2);
    if (count == 3 && strcmp(words[1], "vips") == 0 && strcmp(words[2], "version") == 0) {
        open_vips();
        puts(vips.version());
        return 0;
    }
    if (count == 5 && strcmp(words[1], "tile") == 0) {
        tile(words[2], words[3], atof(words[4]));
        return 0;
    }
    if (count != 6)
        die("usage: peers vips|vips-filtered|libpng JOB IN OUT REPEATS");
    const int filtered = strcmp(words[1], "vips-filtered") == 0;
    const int by_vips = filtered || strcmp(words[1], "vips") == 0;
    if (by_vips)
        open_vips();
    for (int i = 0; i < atoi(words[5]); i++) {
        /* Each writes a new file: to empty one takes milliseconds. */
        unlink(words[4]);
        const double start = microseconds();
        if (by_vips)
            run_vips(words[2], words[3], words[4], filtered);
        else
            run_libpng(words[2], words[3], words[4]);
        printf("%.0f\n", microseconds() - start);
    }
    return 0;
}
