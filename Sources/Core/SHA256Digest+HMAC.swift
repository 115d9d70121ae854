import CDarkroomCrypto

extension SHA256Digest {
    /// The HMAC (RFC 2104) of `message` with SHA-256: 32 bytes.
    package static func hmac(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            // This fails only if there is no memory or if libcrypto was built without SHA-256.
            guard
                HMAC(
                    EVP_sha256(), key, CInt(key.count), message, message.count, buffer.baseAddress,
                    nil) != nil
            else { fatalError("libcrypto provides no HMAC with SHA-256") }
            count = 32
        }
    }
}
