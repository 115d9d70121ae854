#define _GNU_SOURCE
#include "heif.h"

#if __has_include(<dav1d/dav1d.h>)

#include <dav1d/dav1d.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

/* libheif gives no brightness and colour: version 1.15 makes RGB of them in any case, before it turns a picture. It asks
 * dav1d for them through one function. So that function is here, too: the loader finds the program's own before that of the
 * library. */
typedef int getter(Dav1dContext *, Dav1dPicture *);

static struct {
    getter *get;
    /* Whether the library has the structures of the headers here. */
    bool is_known;
    uint32_t width, height;
    heif_coding coding;
    bool has_planes;
    heif_planes planes;
} state;

/* dav1d of this version, if it is loaded. */
static void *library(int version)
{
    char name[32];
    snprintf(name, sizeof name, "libdav1d.so.%d", version);
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

/* Newer versions of libheif load dav1d with a file that they load themselves, which RTLD_NEXT does not see. */
void heif_codec_find_dav1d(void)
{
    if (state.get) return;
    enum { OLDEST = 4, NEWEST = 30 };
    static const char name[] = "dav1d_get_picture";
    void *own = library(DAV1D_API_VERSION_MAJOR);
    *(void **) &state.get = own ? dlsym(own, name) : dlsym(RTLD_NEXT, name);
    state.is_known = own && state.get;
    for (int version = OLDEST; !state.get && version <= NEWEST; version++) {
        void *other = library(version);
        if (other) *(void **) &state.get = dlsym(other, name);
    }
}

bool heif_codec_keeps_planes(void) { return state.is_known; }

void heif_codec_keep_planes(uint32_t width, uint32_t height, heif_coding coding)
{
    state.width = width;
    state.height = height;
    state.coding = coding;
    state.has_planes = false;
}

const heif_planes *heif_codec_kept_planes(void) { return state.has_planes ? &state.planes : NULL; }

static void keep(const Dav1dPicture *picture)
{
    bool is_gray = picture->p.layout == DAV1D_PIXEL_LAYOUT_I400;
    state.planes = (heif_planes) {
        .width = (uint32_t) picture->p.w,
        .height = (uint32_t) picture->p.h,
        .bits = (unsigned) picture->p.bpc,
        .across = is_gray ? 0 : picture->p.layout == DAV1D_PIXEL_LAYOUT_I444 ? 1 : 2,
        .down = is_gray ? 0 : picture->p.layout == DAV1D_PIXEL_LAYOUT_I420 ? 2 : 1,
        .matrix = {picture->seq_hdr->mtrx, picture->seq_hdr->color_range != 0},
    };
    for (unsigned index = 0; index < (is_gray ? 1 : 3); index++) {
        state.planes.samples[index] = picture->data[index];
        state.planes.strides[index] = (size_t) picture->stride[index > 0];
    }
}

/* The picture that is kept is never given back to dav1d, so it stays when libheif closes the decoder. */
__attribute__((visibility("default"), used)) int dav1d_get_picture(Dav1dContext *context, Dav1dPicture *picture)
{
    if (!state.get) return DAV1D_ERR(ENOSYS);
    int result = state.get(context, picture);
    bool is_expected = result == 0 && state.is_known && state.width > 0 && (uint32_t) picture->p.w == state.width
        && (uint32_t) picture->p.h == state.height;
    if (!is_expected) return result;
    keep(picture);
    /* Libheif has more formulas than reduce.c. */
    state.has_planes = heif_codec_knows(state.coding.is_known ? state.coding.matrix : state.planes.matrix);
    return state.has_planes ? DAV1D_ERR(ECANCELED) : result;
}

#else

void heif_codec_find_dav1d(void) {}
bool heif_codec_keeps_planes(void) { return false; }
void heif_codec_keep_planes(uint32_t width, uint32_t height, heif_coding coding) { (void) width, (void) height, (void) coding; }
const heif_planes *heif_codec_kept_planes(void) { return NULL; }

#endif
