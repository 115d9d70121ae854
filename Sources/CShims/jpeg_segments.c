#include "jpeg_segments.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 35 }; /* the longest signature's */

/* The beginning of a segment's data, and its name. */
static const struct {
    int marker;
    const char *signature;
    size_t length; /* of the signature; with its zero, where it ends in one */
    size_t least;  /* bytes of data that there must be */
    const char *name;
} known[] = {
    {JPEG_APP0, "JFIF", 5, 14, "JFIF"},
    {JPEG_APP0, "JFXX", 5, 5, "JFXX"},
    {JPEG_APP0 + 1, "Exif", 5, 6, "Exif"},
    {JPEG_APP0 + 1, "http://ns.adobe.com/xap/1.0/", 29, 29, "XMP"},
    {JPEG_APP0 + 1, "http://ns.adobe.com/xmp/extension/", 35, 35, "XMP"},
    {JPEG_APP0 + 2, "ICC_PROFILE", 12, 14, "ICC"},
    {JPEG_APP0 + 2, "MPF", 4, 4, "MPF"},
    {JPEG_APP0 + 14, "Adobe", 5, 12, "Adobe"},
};

static darkroom_jpeg_trap *trap_of(j_decompress_ptr info)
{
    return (darkroom_jpeg_trap *)info->err;
}

/* ---- Bytes from libjpeg's source, which never suspends ---- */

static void take(j_decompress_ptr info, uint8_t *bytes, size_t count)
{
    struct jpeg_source_mgr *source = info->src;
    while (count > 0) {
        if (source->bytes_in_buffer == 0)
            source->fill_input_buffer(info);
        size_t part = source->bytes_in_buffer < count ? source->bytes_in_buffer : count;
        memcpy(bytes, source->next_input_byte, part);
        source->next_input_byte += part;
        source->bytes_in_buffer -= part;
        bytes += part;
        count -= part;
    }
}

/* Copies into separate memory, which belongs to `place` before anything can fail. */
static void take_copy(j_decompress_ptr info, uint8_t **place, size_t count)
{
    *place = malloc(count == 0 ? 1 : count);
    if (*place == NULL)
        darkroom_jpeg_fail(trap_of(info), DARKROOM_JPEG_MEMORY, "not enough memory for a segment");
    take(info, *place, count);
}

/* ---- The kinds of segments ---- */

static void note(darkroom_jpeg_segments *segments, const char *name)
{
    for (size_t i = 0; i < segments->name_count; i++)
        if (strcmp(segments->names[i], name) == 0)
            return;
    if (segments->name_count == DARKROOM_JPEG_SEGMENT_NAMES)
        return;
    char *slot = segments->names[segments->name_count++];
    snprintf(slot, sizeof segments->names[0], "%s", name);
}

/* Sets the values that libjpeg's own handler of APP0 would set, and makes its remark on revisions other than
 * 1. `head` begins with "JFIF". */
static void note_jfif(j_decompress_ptr info, const uint8_t *head)
{
    info->saw_JFIF_marker = TRUE;
    if (head[5] != 1) {
        char words[64];
        snprintf(words, sizeof words, "JFIF of an unknown revision, %u.%02u", head[5], head[6]);
        darkroom_jpeg_remark(trap_of(info), words);
    }
    info->JFIF_major_version = head[5];
    info->JFIF_minor_version = head[6];
    info->density_unit = head[7];
    info->X_density = (UINT16)(head[8] << 8 | head[9]);
    info->Y_density = (UINT16)(head[10] << 8 | head[11]);
}

/* Sets the value that libjpeg's own handler of APP14 would set: whether the colours are YCbCr. */
static void note_adobe(j_decompress_ptr info, const uint8_t *head)
{
    info->saw_Adobe_marker = TRUE;
    info->Adobe_transform = head[11];
}

/* Puts a piece of `count` bytes into a profile, if its place there is free. Returns whether the profile has the
 * piece, or had it before. */
static bool accept(darkroom_jpeg_profile *profile, unsigned number, uint8_t **piece, size_t count)
{
    uint8_t **place = &profile->pieces[number - 1];
    if (*place != NULL)
        return profile->counts[number - 1] == count && memcmp(*place, *piece, count) == 0;
    *place = *piece;
    *piece = NULL;
    profile->counts[number - 1] = count;
    profile->bytes += count;
    return true;
}

static bool belongs(
    darkroom_jpeg_segments *segments, unsigned number, unsigned total, uint8_t **piece, size_t count)
{
    for (size_t i = 0; i < segments->profile_total; i++) {
        darkroom_jpeg_profile *profile = segments->profiles[i];
        if (profile->total == total && count <= segments->largest_profile - profile->bytes
            && accept(profile, number, piece, count))
            return true;
    }
    if (segments->profile_total == DARKROOM_JPEG_PROFILES || count > segments->largest_profile)
        return false;
    darkroom_jpeg_profile *profile = calloc(1, sizeof *profile);
    if (profile == NULL)
        return false;
    profile->total = total;
    segments->profiles[segments->profile_total++] = profile;
    return accept(profile, number, piece, count);
}

/* A piece of a profile. `number` counts from 1. Returns how much of the data was taken. */
static size_t take_piece(j_decompress_ptr info, unsigned number, unsigned total, size_t count)
{
    darkroom_jpeg_segments *segments = info->client_data;
    if (segments->is_closed)
        return 0;
    if (number < 1 || number > total) {
        segments->is_profile_broken = true;
        return 0;
    }
    take_copy(info, &segments->piece, count);
    if (!belongs(segments, number, total, &segments->piece, count))
        segments->is_profile_broken = true;
    free(segments->piece);
    segments->piece = NULL;
    return count;
}

/* libjpeg's callback: before it a marker has been read, after it the marker's segment. */
static boolean read_segment(j_decompress_ptr info)
{
    darkroom_jpeg_segments *segments = info->client_data;
    int marker = info->unread_marker;
    uint8_t head[HEAD_BYTES] = {0};
    take(info, head, 2);
    size_t left = (size_t)(head[0] << 8 | head[1]);
    if (left < 2)
        darkroom_jpeg_fail(
            trap_of(info), trap_of(info)->phase, "a segment is shorter than its length field");
    left -= 2;
    size_t head_count = left < HEAD_BYTES ? left : HEAD_BYTES;
    /* The data of these two is kept: only the signature may be consumed here. */
    if (marker == JPEG_APP0 + 1 && head_count > 6)
        head_count = 6;
    else if (marker == JPEG_APP0 + 2 && head_count > 14)
        head_count = 14;
    take(info, head, head_count);
    left -= head_count;

    char name[8];
    if (marker == JPEG_COM)
        snprintf(name, sizeof name, "COM");
    else
        snprintf(name, sizeof name, "APP%d", (marker - JPEG_APP0) & 15);
    if (marker == JPEG_APP0 + 1 && memcmp(head, "Exif", 5) != 0 && left > 0) {
        size_t rest = left < HEAD_BYTES - 6 ? left : HEAD_BYTES - 6;
        take(info, head + 6, rest);
        head_count += rest;
        left -= rest;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (marker == known[i].marker && head_count + left >= known[i].least
            && memcmp(head, known[i].signature, known[i].length) == 0)
            snprintf(name, sizeof name, "%s", known[i].name);
    note(segments, name);

    if (strcmp(name, "JFIF") == 0)
        note_jfif(info, head);
    else if (strcmp(name, "Adobe") == 0)
        note_adobe(info, head);
    else if (strcmp(name, "Exif") == 0 && segments->exif_total < DARKROOM_JPEG_EXIFS) {
        const size_t index = segments->exif_total++;
        take_copy(info, &segments->exifs[index], left);
        segments->exif_counts[index] = left;
        left = 0;
    } else if (strcmp(name, "ICC") == 0) {
        left -= take_piece(info, head[12], head[13], left);
    }
    if (left > 0)
        info->src->skip_input_data(info, (long)left);
    info->unread_marker = 0;
    return TRUE;
}

/* ---- Our side ---- */

void darkroom_jpeg_segments_start(j_decompress_ptr info)
{
    jpeg_set_marker_processor(info, JPEG_COM, read_segment);
    for (int i = 0; i < 16; i++)
        jpeg_set_marker_processor(info, JPEG_APP0 + i, read_segment);
}

/* Joins the pieces of a profile. Returns false if one is missing. */
static bool join(
    darkroom_jpeg_segments *segments, const darkroom_jpeg_profile *profile, darkroom_jpeg_trap *trap)
{
    for (unsigned i = 0; i < profile->total; i++)
        if (profile->pieces[i] == NULL)
            return false;
    segments->profile = malloc(profile->bytes + 1);
    if (segments->profile == NULL)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_MEMORY, "not enough memory for the colour profile");
    for (unsigned i = 0; i < profile->total; i++) {
        memcpy(segments->profile + segments->profile_count, profile->pieces[i], profile->counts[i]);
        segments->profile_count += profile->counts[i];
    }
    return true;
}

static void free_profiles(darkroom_jpeg_segments *segments)
{
    for (size_t i = 0; i < segments->profile_total; i++) {
        for (unsigned k = 0; k < DARKROOM_JPEG_PIECES; k++)
            free(segments->profiles[i]->pieces[k]);
        free(segments->profiles[i]);
    }
    segments->profile_total = 0;
}

void darkroom_jpeg_segments_finish(darkroom_jpeg_segments *segments, darkroom_jpeg_trap *trap)
{
    for (size_t i = 0; i < segments->profile_total && segments->profile == NULL; i++)
        join(segments, segments->profiles[i], trap);
    if (segments->profile == NULL && (segments->profile_total > 0 || segments->is_profile_broken))
        darkroom_jpeg_remark(
            trap, "the colour profile is incomplete, contradictory or too large");
    else if (segments->profile_total > 1 || segments->is_profile_broken)
        darkroom_jpeg_remark(
            trap, "there are different colour profiles; the first complete one counts");
    /* Pieces among the scans are too late if writing has begun. */
    segments->is_closed = true;
    free_profiles(segments);
}

void darkroom_jpeg_segments_free(darkroom_jpeg_segments *segments)
{
    free_profiles(segments);
    free(segments->piece);
    free(segments->profile);
    for (size_t i = 0; i < segments->exif_total; i++)
        free(segments->exifs[i]);
}

void darkroom_jpeg_segments_reset(darkroom_jpeg_segments *segments)
{
    const size_t largest = segments->largest_profile;
    darkroom_jpeg_segments_free(segments);
    *segments = (darkroom_jpeg_segments){.largest_profile = largest};
}
