/* libpng behind setjmp. */
#ifndef DARKROOM_PNG_H
#define DARKROOM_PNG_H
#endif
