/// The result that a former run has made of an image, when the image is filtered again. It stays the result if nothing
/// that decides it has changed, or if the source cannot be fetched.
package struct FormerResult: Sendable, Equatable, Codable {
    package let image: ImageStatus
    /// Whether only the bytes of its source, or the pixels of the images that it needs, may have changed. If they have
    /// not, the former result stays.
    package let isComparable: Bool

    package init(_ image: ImageStatus, isComparable: Bool) {
        self.image = image
        self.isComparable = isComparable
    }
}
