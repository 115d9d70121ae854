import DarkroomPicture

/// What a configuration says about manifests: their limits, and what stands for what they do not say.
package struct ManifestLimits: Sendable, Equatable {
    /// The maximum size of the file, in bytes.
    package var bytes: Int
    package var images: Int
    /// The maximum number of filters of one image.
    package var filters: Int
    /// The colour space of results for which neither the manifest nor a recipe has one.
    package var profile = OutputProfile.keep
    /// Where outputs may be delivered to; nil if that is not known, or was checked before.
    package var delivery: DeliveryRules?
    /// The owner of the manifest; nil if that is not known.
    package var owner: UInt32?

    /// The most images that pages of files may make, whatever the limit is: a number in a file stands for many of them.
    static let mostOfPages = 10_000_000

    package init(bytes: Int = 64 << 20, images: Int = 1_000_000, filters: Int = 64) {
        self.bytes = bytes
        self.images = images
        self.filters = filters
    }
}
