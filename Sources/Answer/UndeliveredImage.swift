/// A filtered image whose output is to be delivered.
package struct UndeliveredImage: Codable, Sendable, Equatable {
    /// Its status when it is delivered, except `deliveredTo`.
    package var status: ImageStatus
    /// nil before it has a copy in the folder.
    package var promise: Promise?

    /// A complete copy is in the folder under its hidden name, and gets this name next.
    package struct Promise: Codable, Sendable, Equatable {
        /// From the folder of the delivery: it may begin with folders.
        package var name: String
        /// The hidden name, which is a name of its folder.
        package var copy: String
        /// The folder in which both are (`Directory.mark`): in another one, a missing copy proves nothing.
        package var folder: String

        package init(name: String, copy: String, folder: String) {
            self.name = name
            self.copy = copy
            self.folder = folder
        }
    }

    package init(_ status: ImageStatus, promise: Promise? = nil) {
        self.status = status
        self.promise = promise
    }
}
