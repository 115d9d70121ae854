import DarkroomAnswer
import DarkroomCore
import DarkroomPicture
import SystemPackage

/// The folders of outputs in an answer, which templates have. Only such folders are removed with an answer: one that
/// contains anything but folders and files with the extensions of results does not come from Darkroom.
extension Directory {
    /// The disk space of such a folder; nil if it is none.
    func bytesOfOutputs(in name: FileName) throws(FileError) -> Int? {
        try bytesOfOutputs(in: name, OutputPath.mostFolders)
    }

    private func bytesOfOutputs(in name: FileName, _ depth: Int) throws(FileError) -> Int? {
        guard depth > 0, let folder = try FinishedBatch.open(name, in: self) else { return nil }
        var bytes = try information(of: name)?.bytesOnDisk ?? 0
        for entry in try folder.names() {
            guard let information = try folder.information(of: entry) else { continue }
            if information.isFolder {
                guard let inner = try folder.bytesOfOutputs(in: entry, depth - 1) else {
                    return nil
                }
                bytes = bytes.saturatingAdd(inner)
            } else {
                guard information.isRegularFile, Self.isOutput(entry) else { return nil }
                bytes = bytes.saturatingAdd(information.bytesOnDisk)
            }
        }
        return bytes
    }

    private static func isOutput(_ name: FileName) -> Bool {
        OutputFormat.allCases.contains { $0.endings.contains(where: name.text.hasEnding) }
    }
}
