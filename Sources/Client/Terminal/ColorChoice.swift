/// The value of `--color`.
package enum ColorChoice: String, Sendable, CaseIterable {
    case auto, always, never

    /// Whether a stream has colours. The option decides, then `NO_COLOR`, then `CLICOLOR_FORCE`, then the terminal.
    package func isOn(isTerminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto:
            // no-color.org: any value except the empty one.
            if environment["NO_COLOR"]?.isEmpty == false { return false }
            if let force = environment["CLICOLOR_FORCE"], !force.isEmpty, force != "0" {
                return true
            }
            return isTerminal && !Terminal.isDumb(environment) && environment["CLICOLOR"] != "0"
        }
    }
}
