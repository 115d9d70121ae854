import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// Files that several processes may begin at once, also on several machines, and of which the first one counts.
///
/// Each process writes a complete file under a name of its own and gives it the right name (`Directory.publish`), which one
/// of them can do, over NFS too. The others read what that one has written.
extension Directory {
    /// Writes a file, unless it is there.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the names of files that are not complete.
    ///   - steps: the fault points after the two steps.
    ///   - read: reads the file that is there; nil if there is none.
    /// - Returns: what counts: this content, or the one that was there.
    func settle<Content>(
        _ name: FileName, prefix: String, _ bytes: [UInt8],
        steps: (written: FaultPoint, moved: FaultPoint)? = nil,
        read: () throws(RunError) -> Content?
    ) throws(RunError) -> Content {
        // Each repetition means that somebody else has removed a file.
        for _ in 0..<100 {
            if let known = try read() {
                // Processes have left them that were killed before there was the file. Nobody needs them.
                try runError(of: removeFiles(withPrefix: prefix))
                return known
            }
            // The same number on two machines is harmless: the two files are of one moment, and the later one is refused.
            let new = FileName(unique: prefix)
            try runError { () throws(FileError) in
                try write(bytes, to: new, durably: false)
                steps?.written.pass()
                do throws(FileError) {
                    try publish(new, to: self, as: name, rivals: .some)
                    steps?.moved.pass()
                } catch  where [.noSuchFileOrDirectory, .fileExists].contains(error.errno) {
                    // Somebody was faster. If it was not the answer but the file that got lost, the next look shows it.
                }
            }
        }
        throw .unreadable(path(of: name))
    }

    /// Reads such a file. Without links, it is empty for a moment (`publish`); if it stays empty, its writer was killed.
    ///
    /// - Returns: nil if there is none.
    func readSettled(_ name: FileName, upTo maximum: Int) throws(FileError) -> [UInt8]? {
        for _ in 0..<Self.emptyLooks {
            let bytes = try ignoringMissing(read(name, upTo: maximum))
            guard let bytes else { return nil }
            if !bytes.isEmpty { return bytes }
            usleep(20_000)
        }
        return []
    }

    /// Two seconds.
    private static var emptyLooks: Int { 100 }
}
