import Glibc

extension stat {
    package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
