/// A filtered image whose output is to be delivered.
package struct UndeliveredImage: Codable, Sendable, Equatable {
    /// Its status when it is delivered, but for `deliveredTo`.
    package var status: ImageStatus
    /// nil before it has a copy in the folder.
    package var promise: Promise?

    /// A complete copy is in the folder under its hidden name, and gets this name next. If the copy is not there any
    /// more, it has got the name, whatever has become of the file since.
    package struct Promise: Codable, Sendable, Equatable {
        /// From the folder of the delivery: it may begin with folders.
        package var name: String
        /// The inode of the folder in which it is: in another one, a missing copy proves nothing.
        package var folder: UInt64

        package init(name: String, folder: UInt64) {
            self.name = name
            self.folder = folder
        }
    }

    package init(_ status: ImageStatus, promise: Promise? = nil) {
        self.status = status
        self.promise = promise
    }
}
