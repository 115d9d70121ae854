/// A terminal's screen: text and the control sequences that the command uses. `unknown` has all others.
package final class VirtualScreen {
    package struct Position: Equatable {
        package var row: Int
        package var column: Int

        package init(row: Int, column: Int) {
            self.row = row
            self.column = column
        }
    }

    private var width: Int
    private let height: Int
    private var rows: [[Character]] = [[]]
    package private(set) var cursor = Position(row: 0, column: 0)
    /// Whether a line was longer than the screen is wide, or there were more lines than it has.
    package private(set) var hasWrapped = false
    /// Sequences that it does not know.
    package private(set) var unknown: [String] = []

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The lines without spaces at their ends, and without empty lines at the end.
    package var lines: [String] {
        var lines = rows.map { row in
            var row = row
            while row.last == " " { row.removeLast() }
            return String(row)
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    package func feed(_ text: String) {
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": cursor.column = 0
            case "\n": lineFeed()
            case "\u{1B}": control(&rest)
            default: put(Character(scalar))
            }
        }
    }

    /// The terminal gets narrower and wraps the lines that it shows. The cursor stays at its character.
    package func rewrap(to width: Int) {
        let old = rows
        let offset = cursor.column
        rows = []
        for (index, row) in old.enumerated() {
            if index == cursor.row {
                cursor = Position(row: rows.count + offset / width, column: offset % width)
            }
            var rest = row[...]
            repeat {
                rows.append(Array(rest.prefix(width)))
                rest = rest.dropFirst(width)
            } while !rest.isEmpty
        }
        self.width = width
    }

    private func put(_ character: Character) {
        if cursor.column >= width {
            hasWrapped = true
            cursor.column = 0
            lineFeed()
        }
        while rows[cursor.row].count <= cursor.column { rows[cursor.row].append(" ") }
        rows[cursor.row][cursor.column] = character
        cursor.column += 1
    }

    private func lineFeed() {
        cursor.row += 1
        if cursor.row == rows.count { rows.append([]) }
        if rows.count > height { hasWrapped = true }
    }

    /// ECMA-48: CSI, parameters, a letter.
    private func control(_ rest: inout ArraySlice<Unicode.Scalar>) {
        guard rest.popFirst() == "[" else { return unknown.append("ESC") }
        var parameters = ""
        while let scalar = rest.popFirst() {
            guard scalar.properties.isAlphabetic else {
                parameters.unicodeScalars.append(scalar)
                continue
            }
            let number = Int(parameters)
            switch (scalar, parameters) {
            case ("A", _): cursor.row = max(0, cursor.row - (number ?? 1))
            case ("K", ""): rows[cursor.row] = Array(rows[cursor.row].prefix(cursor.column))
            case ("J", ""):
                rows[cursor.row] = Array(rows[cursor.row].prefix(cursor.column))
                rows.removeSubrange((cursor.row + 1)...)
            case ("m", _): break
            default: unknown.append("CSI \(parameters)\(scalar)")
            }
            return
        }
    }
}
