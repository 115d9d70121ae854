#include "darkroom_codec_socket.h"
#include "darkroom_codec_wire.h"
#include "darkroom_processor.h"
#include "darkroom_quality.h"
