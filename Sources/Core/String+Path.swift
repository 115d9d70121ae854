import Glibc

extension String {
    /// The path without symbolic links; nil if there is no such file or folder, or if it is not UTF-8.
    package var realPath: String? {
        guard let found = realpath(self, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }

    /// The names in a path, without `.` and without regard to repeated slashes: `a` and `b` of `/a/./b/`.
    package var pathParts: [ByteString] {
        utf8.split(separator: UInt8(ascii: "/")).map { ByteString($0) }.filter { $0 != "." }
    }
}
