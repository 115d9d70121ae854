/* Functions that Swift cannot call directly. Each header says why it exists. */
#ifndef CDARKROOM_SHIMS_H
#define CDARKROOM_SHIMS_H

#include "darkroom_coding.h"
#include "darkroom_crash.h"
#include "darkroom_jpeg.h"
#include "darkroom_linux.h"
#include "darkroom_poll.h"
#include "darkroom_png.h"
#include "darkroom_remarks.h"
#include "darkroom_remote.h"
#include "darkroom_spawn.h"
#include "darkroom_versions.h"

#endif
