import Foundation
import SystemPackage

/// What the system says about an error of Foundation, whose own sentences name no cause.
package enum SystemCause {
    /// nil if the error is not that of a call to the system.
    package static func of(_ error: any Error) -> Errno? {
        ((error as? CocoaError)?.underlying as? POSIXError).map {
            Errno(rawValue: $0.code.rawValue)
        }
    }
}
