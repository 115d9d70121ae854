import CDarkroomCrypto
import Glibc
import SystemPackage

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
    package func hex() -> String { Hexadecimal.text(of: bytes()) }

    package static func hex(of bytes: some Sequence<UInt8>) -> String {
        var digest = SHA256Digest()
        digest.update(bytes)
        return digest.hex()
    }

    /// The first 64 bits of the digest of a short text, the first byte as the highest.
    package static func word(of text: ByteString) -> UInt64 {
        var text = text.string
        return text.withUTF8 { text in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digest in
                guard SHA256(text.baseAddress, text.count, digest.baseAddress) != nil else {
                    fatalError("libcrypto provides no SHA-256")
                }
                return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }
}

extension Descriptor {
    /// The hexadecimal SHA-256 of the whole file, or of what follows a position, without a change of its own position.
    ///
    /// - Parameter piece: receives the number of bytes of each piece that was read.
    package func sha256(
        from start: Int = 0, path: String, piece: (Int) -> Void = { _ in }
    ) throws(FileError) -> String {
        var digest = SHA256Digest()
        var offset = start
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
        defer { buffer.deallocate() }
        do throws(Errno) {
            while true {
                let count = try read(into: buffer, at: offset)
                if count == 0 { break }
                digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                offset += count
                piece(count)
            }
        } catch {
            throw FileError(.read, path, error)
        }
        return digest.hex()
    }
}
