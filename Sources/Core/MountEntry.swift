/// A line of the mount table (/proc/self/mountinfo, see proc(5)).
package struct MountEntry {
    /// The mounted folder, as a path in its file system.
    let source: String
    package let point: String
    let isReadOnly: Bool
    /// The type of the file system; empty if the line is cut.
    let fileSystem: String
    /// The options of the file system. Those of control groups of version 1 are the names of controllers.
    let options: [Substring]

    package init?(_ line: Substring) {
        // 36 35 98:0 /source /point rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=continue
        let fields = line.split(separator: " ")
        guard fields.count > 5 else { return nil }
        source = Self.unescaped(fields[3])
        point = Self.unescaped(fields[4])
        isReadOnly = fields[5].split(separator: ",").first == "ro"
        // A number of optional fields ends with a hyphen.
        let end = fields[6...].firstIndex(of: "-") ?? fields.endIndex
        let rest = fields[end...].dropFirst()
        fileSystem = rest.first.map(String.init) ?? ""
        options = rest.dropFirst(2).first?.split(separator: ",") ?? []
    }

    /// Spaces, tabs, newlines and backslashes are written as octal numbers.
    private static func unescaped(_ field: Substring) -> String {
        var text = String(field)
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        for (code, character) in [("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")] {
            text.replace("\\" + code, with: character)
        }
        return text
    }
}
