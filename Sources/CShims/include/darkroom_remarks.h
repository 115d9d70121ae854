/* The classes of what is wrong with a picture, and the table of all remarks, for tests and documents. */
#ifndef DARKROOM_REMARKS_PUBLIC_H
#define DARKROOM_REMARKS_PUBLIC_H

#include <stddef.h>

typedef enum {
    /* Nothing that decides a pixel is missing or contradicts itself: the picture is made, with a warning. */
    DARKROOM_HARMLESS,
    /* Rows are missing, a checksum is wrong, or data contradict themselves: it fails, unless damaged pictures are
     * wanted as far as they go. */
    DARKROOM_DAMAGE,
    /* A kind of picture that is not read: it fails. */
    DARKROOM_OTHER_FORMAT,
} darkroom_remark_class;

typedef struct {
    const char *format; /* JPEG or PNG */
    const char *source; /* whose remark it is: libjpeg, libpng, darkroom */
    const char *words;  /* a name of our own for libjpeg's and our remarks, libpng's text for its */
    int code;           /* libjpeg's number or our own; 0 for PNG, where remarks are known by their texts */
    darkroom_remark_class class_of;
} darkroom_remark;

/* The table. */
const darkroom_remark *darkroom_remarks(size_t *count);

/* The numbers of libjpeg's warnings: each is in the table. */
int darkroom_jpeg_is_warning(int code);
int darkroom_jpeg_message_count(void);

#endif
