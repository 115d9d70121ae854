import DarkroomCore

/// The source of an image as a manifest writes it: one picture, or a pattern or folder.
package struct WrittenSource: Sendable, Equatable {
    package let text: ByteString
    /// Where its value begins: with its quotes, or the tag of a property list.
    package let place: Document.Place
}
