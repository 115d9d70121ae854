import Glibc

extension stat {
    package func isNewer(than other: stat) -> Bool {
        (st_mtim.tv_sec, st_mtim.tv_nsec) > (other.st_mtim.tv_sec, other.st_mtim.tv_nsec)
    }
}
