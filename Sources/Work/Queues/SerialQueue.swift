import Dispatch
import Foundation

/// A queue that runs one operation at a time, and always gets a thread for it.
///
/// Sendable, because its own variables are constant and the superclass guards the rest.
final class SerialQueue: OperationQueue, @unchecked Sendable {
    /// The superclass does not retain it. Only for a serial queue does Dispatch create a thread if all others are busy.
    private let serial: DispatchQueue

    /// - Parameter qos: decides the thread's niceness.
    init(_ name: String, qos: DispatchQoS) {
        serial = DispatchQueue(label: name, qos: qos)
        super.init()
        self.name = name
        maxConcurrentOperationCount = 1
        underlyingQueue = serial
    }
}
