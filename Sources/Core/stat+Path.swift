import Glibc

extension stat {
    /// What is at a path; nil if that cannot be known. Then errno says why.
    ///
    /// - Parameter followsLink: whether a symbolic link at the end of the path is followed.
    package init?(path: String, followsLink: Bool = true) {
        self.init()
        let flags = followsLink ? 0 : AT_SYMLINK_NOFOLLOW
        guard fstatat(AT_FDCWD, path, &self, flags) == 0 else { return nil }
    }

    /// The same for an open file.
    package init?(of descriptor: CInt) {
        self.init()
        guard fstat(descriptor, &self) == 0 else { return nil }
    }
}
