/// A batch whose first image has been given a place.
package struct BatchBeginning: Sendable {
    package let id: String
    /// The images that remain to be done.
    package let images: Int
    /// Whether parts of it were finished before the daemon started, or before a hold.
    package let isContinued: Bool
    /// The time since its claim, in microseconds; nil for a batch that continues, and if there was no wait.
    package let waited: UInt64?
}
