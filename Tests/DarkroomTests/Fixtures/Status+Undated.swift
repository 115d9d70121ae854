@testable import DarkroomAnswer

extension Status {
    /// The same without the moment of its writing.
    var undated: Status {
        var status = self
        status.written = nil
        return status
    }
}
