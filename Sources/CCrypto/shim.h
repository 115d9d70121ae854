#ifndef DARKROOM_CCRYPTO_SHIM_H
#define DARKROOM_CCRYPTO_SHIM_H

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#endif
