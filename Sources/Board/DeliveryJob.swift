import DarkroomAnswer
import DarkroomManifest

/// An image whose output is to be placed in a folder (`Delivery`).
package struct DeliveryJob: Sendable {
    package let key: BatchKey
    package let id: String
    package let index: Int
    package let owner: UInt32?
    package let delivery: Delivery
    /// Whether its pixels are in a file for other images.
    package let handsOver: Bool
    package var image: UndeliveredImage
}
