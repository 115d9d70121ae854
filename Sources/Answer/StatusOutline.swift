import DarkroomCore
import SystemPackage

/// The part of a status file that decides whether its batch may be removed, and by whom. It is read without the images, of
/// which there may be 100,000, and whatever the rest of the status has.
package struct StatusOutline: VersionedFile, Equatable, Sendable {
    package let schemaVersion: Int
    package let id: String
    package let state: BatchState
    package let times: Status.Times
    package let manifest: Submitted

    package struct Submitted: Decodable, Equatable, Sendable {
        /// The owner of the submitted file, if it is known.
        package let uid: UInt32?
        /// Whether it is a folder with pictures; absent if not.
        package let folder: Bool?
        package let file: String?
        package let redacted: Status.ManifestReference.RedactedCopy?
    }

    /// Reads the outline of `status.json` in a folder of the outbox; nil if it is missing, or if Darkroom has not
    /// written it.
    package init?(in folder: Directory) throws(FileError) {
        do {
            guard let bytes = try ImagesFilter.frame(in: folder) else { return nil }
            self.init(decoding: bytes)
        } catch  where [.noSuchFileOrDirectory, .tooManySymbolicLinkLevels].contains(error.errno) {
            return nil
        }
    }
}
