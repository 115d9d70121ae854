import DarkroomPicture

/// The small copies of an image that the daemon has made while it filtered the image.
package struct ImagePreviews: Sendable {
    /// What the copy of the source says of itself; nil if there is no copy.
    let before: PreviewHeader?
    /// Whether there is a copy of the result.
    let hasAfter: Bool

    package init(before: PreviewHeader?, hasAfter: Bool) {
        self.before = before
        self.hasAfter = hasAfter
    }
}
