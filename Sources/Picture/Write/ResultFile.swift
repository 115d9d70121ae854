package import SystemPackage

/// A file that gets its name when it is complete, see `ReplacedFile`, for a caller that writes the picture itself.
package final class ResultFile {
    package let file: FileDescriptor
    private var replaced: ReplacedFile?

    package init(path: String) throws(PictureError) {
        let replaced = try ReplacedFile(path: path)
        file = replaced.file
        self.replaced = consume replaced
    }

    /// Gives the file its name, and closes it. Nothing is synced.
    package func publish() throws(PictureError) { try replaced.take()?.publish() }
}
