import DarkroomAnswer

extension ControlCommand.Form {
    /// What the manual says of it. There the verb has the third person: `Holds a batch`.
    var manualText: String {
        let verb = summary.prefix { $0 != " " }
        return ["\(verb)s\(summary.dropFirst(verb.count))", remark].compactMap(\.self)
            .joined(separator: " ")
    }
}
