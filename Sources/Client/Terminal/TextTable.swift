/// A table for people: aligned columns, no borders. On a terminal it is never wider than the screen; elsewhere nothing
/// is cut.
package struct TextTable {
    /// A column with its title.
    package struct Column: Sendable {
        let title: String
        let isNumber: Bool
        /// The width to which the column may shrink; nil if it never does.
        let minimum: Int?
        /// The column with the highest value is left out first when the screen is too narrow. 0 is never left out.
        let dispensability: Int

        package init(
            _ title: String, isNumber: Bool = false, minimum: Int? = nil, dispensability: Int = 0
        ) {
            self.title = title
            self.isNumber = isNumber
            self.minimum = minimum
            self.dispensability = dispensability
        }
    }

    package struct Cell: Sendable {
        let text: String
        let style: TextStyle?

        package init(_ text: String, _ style: TextStyle? = nil) {
            // An empty cell would shift the following ones for a program that splits lines at spaces.
            self.text = text.isEmpty ? "-" : text.visible
            self.style = style
        }
    }

    private static let gap = "  "
    private let columns: [Column]
    private var rows: [[Cell]] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    package mutating func append(_ row: [Cell]) {
        precondition(row.count == columns.count, "a row has a cell for each column")
        rows.append(row)
    }

    /// The lines, with the titles first.
    package func lines(on terminal: Terminal) -> [String] {
        let layout = layout(in: terminal.width)
        let titles = line(columns.map { Cell($0.title, .dim) }, layout, terminal)
        return [titles] + rows.map { line($0, layout, terminal) }
    }

    /// The shown columns with their widths.
    private func layout(in width: Int?) -> [(column: Int, width: Int)] {
        var layout = columns.indices.map { column in
            let cells = rows.map { DisplayWidth.of($0[column].text) }
            return (column: column, width: max(cells.max() ?? 0, columns[column].title.count))
        }
        guard let width else { return layout }
        while Self.total(layout.map { least($0) }) > width,
            let worst = layout.map({ columns[$0.column].dispensability }).max(), worst > 0
        {
            layout.removeAll { columns[$0.column].dispensability == worst }
        }
        shrink(&layout, to: width)
        return layout
    }

    /// Makes columns narrower until the line fits, the last one first.
    private func shrink(_ layout: inout [(column: Int, width: Int)], to width: Int) {
        for place in layout.indices.reversed() {
            let excess = Self.total(layout.map(\.width)) - width
            guard excess > 0 else { return }
            layout[place].width = max(least(layout[place]), layout[place].width - excess)
        }
    }

    private func least(_ entry: (column: Int, width: Int)) -> Int {
        min(columns[entry.column].minimum ?? entry.width, entry.width)
    }

    private static func total(_ widths: [Int]) -> Int {
        widths.reduce(0, +) + gap.count * max(0, widths.count - 1)
    }

    private func line(
        _ row: [Cell], _ layout: [(column: Int, width: Int)], _ terminal: Terminal
    ) -> String {
        let cells = layout.enumerated().map { place, entry in
            let cell = row[entry.column]
            let text = cell.text.cut(to: entry.width, terminal.ellipsis)
            let spaces = String(
                repeating: " ", count: max(0, entry.width - DisplayWidth.of(text)))
            let painted = terminal.paint(text, cell.style)
            if columns[entry.column].isNumber { return spaces + painted }
            return place == layout.count - 1 ? painted : painted + spaces
        }
        return cells.joined(separator: Self.gap)
    }
}
