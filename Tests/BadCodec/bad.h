#ifndef DARKROOM_BAD_CODEC_H
#define DARKROOM_BAD_CODEC_H

#include "darkroom_codec.h"

/* Answer the calls of a reader of PNG or JPEG, all well but one. */
void answer_unusual_rows(darkroom_codec_call *call);
void answer_misuse(darkroom_codec_call *call);
void answer_large_size(darkroom_codec_call *call);
void answer_rows_for_ever(darkroom_codec_call *call);
void answer_large_profile(darkroom_codec_call *call);
void answer_odd_depth(darkroom_codec_call *call);
void answer_strange_index(darkroom_codec_call *call);

#endif
