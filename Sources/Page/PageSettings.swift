import DarkroomPicture
import Foundation

/// What decides how pages are made, besides the batch.
package struct PageSettings: Sendable {
    /// The folders to which relative sources may belong. The digest of a source decides.
    package var roots: [String]
    /// The filters of images without filters; nil if they are not known.
    package var defaultFilters: [Filter]?
    package var limits: PictureLimits
    package var zone: TimeZone

    package init(
        roots: [String], defaultFilters: [Filter]? = nil,
        limits: PictureLimits = PictureLimits(), zone: TimeZone = .current
    ) {
        self.roots = roots
        self.defaultFilters = defaultFilters
        self.limits = limits
        self.zone = zone
    }
}
