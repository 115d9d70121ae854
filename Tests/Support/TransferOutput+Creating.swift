import DarkroomCore
import DarkroomFetch
import Glibc

extension TransferOutput {
    /// Creates the file `path`, which must not exist, for writing and reading.
    package convenience init(creating path: String) throws(FetchError) {
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            let cause = String(cString: strerror(errno))
            throw FetchError(.writeFailed, "\(path): cannot be created: \(cause)")
        }
        self.init(Descriptor(owning: number), name: path)
    }
}
