import DarkroomAnswer
import DarkroomCore

extension BatchFolders {
    /// Changes `status.json` except its images, which are copied unchanged. Does nothing if it is not a status of this
    /// version, or if `change` returns false.
    package func amendStatus(_ change: (inout Status) -> Bool) throws(FileError) {
        let outbox = try outbox()
        guard var status = try Status(frameIn: outbox), change(&status) else { return }
        // If someone has written the file again, it contains its images.
        guard status.images.isEmpty else { return try writeStatus(status, durably: false) }
        let file = try outbox.open(Status.fileName)
        let path = outbox.path(of: Status.fileName)
        let new = StatusFile(self, isFinal: status.state.isFinal)
        try new.stage(durably: false) { write throws(FileError) in
            let (head, tail) = status.writtenNow.encodedFrame()
            var bytes = head
            _ = try ImagesFilter.read(file, path) { line throws(FileError) in
                bytes += line
                guard bytes.count >= Descriptor.piece else { return }
                try write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            try write(bytes + tail)
        }
        try new.finish(durably: false)
    }
}
