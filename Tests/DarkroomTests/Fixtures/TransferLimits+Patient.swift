@testable import DarkroomFetch

extension TransferLimits {
    /// So long that no test meets them because the machine is busy.
    static let patient = TransferLimits(
        connect: .seconds(3600), total: .seconds(3600), stall: .seconds(3600))
}
