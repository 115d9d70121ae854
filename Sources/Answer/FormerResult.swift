/// What a former run has made of an image that is made again. It stands if the image turns out to have the same, or if its
/// source cannot be fetched.
package struct FormerResult: Sendable, Equatable, Codable {
    package let image: ImageStatus
    /// Whether only the bytes of its source, or the pixels of the images that it needs, may have changed: if they have not,
    /// the former result is that of now.
    package let isComparable: Bool

    package init(_ image: ImageStatus, isComparable: Bool) {
        self.image = image
        self.isComparable = isComparable
    }
}
