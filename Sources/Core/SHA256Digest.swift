import CDarkroomCrypto

/// A SHA-256 (FIPS 180-4) that is computed piece by piece by libcrypto.
package struct SHA256Digest: ~Copyable {
    private let context: OpaquePointer

    package init() {
        // Both calls fail only if there is no memory or if libcrypto was built without SHA-256.
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        else { fatalError("libcrypto provides no SHA-256") }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
            fatalError("libcrypto refused to continue a SHA-256")
        }
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let done: Void? = bytes.withContiguousStorageIfAvailable {
            update(UnsafeRawBufferPointer($0))
        }
        if done == nil { Array(bytes).withUnsafeBytes { update($0) } }
    }

    /// The 32 bytes of the digest of all data so far. More data may follow.
    package func bytes() -> [UInt8] {
        guard let copy = EVP_MD_CTX_new() else { fatalError("out of memory for a SHA-256") }
        defer { EVP_MD_CTX_free(copy) }
        return [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            guard EVP_MD_CTX_copy_ex(copy, context) == 1,
                EVP_DigestFinal_ex(copy, buffer.baseAddress, nil) == 1
            else { fatalError("libcrypto refused to finish a SHA-256") }
            count = 32
        }
    }

    /// The digest as 64 lower-case hexadecimal digits. More data may follow.
    package func hex() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    /// The hexadecimal digest of `bytes`.
    package static func hex(of bytes: some Sequence<UInt8>) -> String {
        var digest = SHA256Digest()
        digest.update(bytes)
        return digest.hex()
    }
}
