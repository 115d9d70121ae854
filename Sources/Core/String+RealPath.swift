import Glibc

extension String {
    /// The path without symbolic links; nil if there is no such file or folder, or if it is not UTF-8.
    package var realPath: String? {
        guard let found = realpath(self, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }
}
