import DarkroomPicture

/// The limits of the board. A change applies to work that begins after it.
package struct BoardSettings: Sendable {
    /// Images of one batch that may have places at the same time.
    package var window: Int
    /// How many admitted images keep both queues busy. While a higher quality of service of the same priority has this
    /// number, a lower one gets no places, except for owners without any.
    package var saturation: Int
    package var retryPolicy: DownloadRetryPolicy
    package var downloads: DownloadFairQueue.Limits
    package var filters: FilterSlots
    /// The memory that all pictures in work may use together, in bytes.
    package var memory: Int
    /// The limits of each picture.
    package var pictures: PictureLimits

    package init(
        window: Int, saturation: Int, retryPolicy: DownloadRetryPolicy,
        downloads: DownloadFairQueue.Limits, filters: FilterSlots, memory: Int,
        pictures: PictureLimits = PictureLimits()
    ) {
        self.window = window
        self.saturation = saturation
        self.retryPolicy = retryPolicy
        self.downloads = downloads
        self.filters = filters
        self.memory = memory
        self.pictures = pictures
    }
}
