import DarkroomClient

extension BatchDetails {
    /// All lines at once.
    func lines(on terminal: Terminal) throws -> [String] {
        var all: [String] = []
        try lines(on: terminal) { all += $0 }
        return all
    }

    /// The whole object.
    func json() throws -> String {
        var text = ""
        try json { text += $0 }
        return text
    }
}
