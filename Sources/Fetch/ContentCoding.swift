import DarkroomCore

/// The names of content codings (RFC 9110, 8.4.1).
///
/// | names | body |
/// |---|---|
/// | `identity`, or none | is as it arrives |
/// | one of `readable` | is decoded |
/// | another one of `compressions`, or several of both | is refused, because it was not requested |
/// | any other name | is as it arrives if it begins like a picture; otherwise it is refused |
///
/// The last row is for names that do not compress anything. S3 stores send `aws-chunked`, and others put a character set
/// or `binary` there.
enum ContentCoding {
    static let readable: Set<ByteString> = ["gzip", "x-gzip", "deflate"]

    /// Those of IANA's registry, and names that are in use without being there.
    static let compressions: Set<ByteString> = readable.union([
        "aes128gcm", "br", "brotli", "bzip2", "compress", "dcb", "dcz", "exi", "lz4", "lzma",
        "pack200-gzip", "sdch", "snappy", "vcdiff", "x-bzip2", "x-compress", "x-lzma", "x-xz", "xz",
        "zip", "zstandard", "zstd",
    ])
}
