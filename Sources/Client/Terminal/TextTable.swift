import DarkroomCore

/// A table for people: aligned columns, no borders. Elsewhere than on a terminal nothing is cut.
///
/// A long one is shown in parts (`takeLines`). Each has the columns of the first part, at least as wide as before.
///
/// The first column names the row, and somebody may have to type it, so it is never cut. If the table is wider than the
/// screen, a name that is longer than half a screen has a line of its own. The other columns are left out, the most
/// dispensable one first, and then made narrower, until the lines fit.
package struct TextTable {
    package struct Column: Sendable {
        let title: String
        let isNumber: Bool
        /// The width to which the column may shrink; nil if it never does.
        let minimum: Int?
        /// The width that it has before a more dispensable column is shown; nil for that of its cells.
        let comfortable: Int?
        /// The column with the highest value is left out first when the screen is too narrow. 0 is never left out.
        let dispensability: Int
        /// Whether text that is too long goes on in the next line. Only the last column can.
        let wraps: Bool

        package init(
            _ title: String, isNumber: Bool = false, minimum: Int? = nil, comfortable: Int? = nil,
            dispensability: Int = 0, wraps: Bool = false
        ) {
            self.title = title
            self.isNumber = isNumber
            self.minimum = minimum
            self.comfortable = comfortable
            self.dispensability = dispensability
            self.wraps = wraps
        }
    }

    package struct Cell: Sendable {
        let text: String
        /// What is shown if the text has no room; nil to cut it.
        let short: String?
        let style: TextStyle?

        package init(_ text: String, _ style: TextStyle? = nil, short: String? = nil) {
            // An empty cell would shift the following ones for a program that splits lines at spaces.
            self.text = text.isEmpty ? "-" : text.visible
            self.short = short
            self.style = style
        }
    }

    private struct Place {
        let column: Int
        /// That of its cells and its title.
        let natural: Int
        /// The smallest one.
        let least: Int
        /// Between the two.
        let comfortable: Int
        /// Whether there are cells that are shown in their short form if the column is narrower than its cells.
        let hasShortForms: Bool
        var width: Int
    }

    private static let gap = "  "
    private let columns: [Column]
    private var rows: [[Cell]] = []
    /// The columns of the parts before; nil for the first.
    private var shown: [Place]?

    package var count: Int { rows.count }

    package init(_ columns: [Column]) { self.columns = columns }

    package mutating func append(_ row: [Cell]) {
        precondition(row.count == columns.count, "a row has a cell for each column")
        rows.append(row)
    }

    package func lines(on terminal: Terminal) -> [String] {
        var table = self
        return table.takeLines(on: terminal)
    }

    /// The lines of the rows so far, which are forgotten; with the titles the first time.
    package mutating func takeLines(on terminal: Terminal) -> [String] {
        let isFirst = shown == nil
        let layout =
            isFirst || terminal.width == nil ? widened(layout(in: terminal.width)) : shown ?? []
        shown = layout
        defer { rows = [] }
        let titles = isFirst ? [columns.map { Cell($0.title, .dim) }] : []
        return (titles + rows).flatMap { lines(of: $0, layout, terminal) }
    }

    /// At least as wide as the parts before.
    private func widened(_ layout: [Place]) -> [Place] {
        guard let shown else { return layout }
        return zip(layout, shown).map { place, before in
            var place = place
            place.width = max(place.width, before.width)
            return place
        }
    }

    // MARK: Layout

    private func layout(in width: Int?) -> [Place] {
        let places = columns.indices.map(place)
        guard let width, Self.total(places.map(\.natural)) > width else { return places }
        var shown = [key(in: width)]
        var used = shown[0].width
        let order = places.dropFirst().sorted {
            (columns[$0.column].dispensability, $0.column)
                < (columns[$1.column].dispensability, $1.column)
        }
        for var place in order {
            let isNeeded = columns[place.column].dispensability == 0
            guard isNeeded || used + Self.gap.count + place.least <= width else { break }
            used += Self.gap.count + place.comfortable
            place.width = place.least
            shown.append(place)
        }
        grow(&shown, to: width)
        return shown.sorted { $0.column < $1.column }
    }

    private func place(of column: Int) -> Place {
        func widest(_ width: (Cell) -> Int) -> Int {
            max(rows.map { width($0[column]) }.max() ?? 0, columns[column].title.count)
        }
        let natural = widest { DisplayWidth.of($0.text) }
        let hasShortForms = rows.contains { $0[column].short != nil }
        let least =
            hasShortForms
            ? widest { DisplayWidth.of($0.short ?? $0.text) }
            : min(columns[column].minimum ?? natural, natural)
        let comfortable =
            hasShortForms ? least : min(columns[column].comfortable ?? natural, natural)
        return Place(
            column: column, natural: natural, least: least, comfortable: max(comfortable, least),
            hasShortForms: hasShortForms, width: natural)
    }

    /// The first column, as wide as the longest name that shares its line with the other cells.
    private func key(in width: Int) -> Place {
        let needed = columns.indices.dropFirst().filter { columns[$0].dispensability == 0 }
        let rest = needed.reduce(0) { $0 + Self.gap.count + self.place(of: $1).least }
        let most = min(width / 2, width - rest)
        let names = rows.map { DisplayWidth.of($0[0].text) }.filter { $0 <= most }
        var place = place(of: 0)
        place.width = max(names.max() ?? 0, columns[0].title.count)
        return place
    }

    /// Gives the columns, the most important one first, the room that is left.
    private func grow(_ shown: inout [Place], to width: Int) {
        for goal in [\Place.comfortable, \.natural] {
            for index in shown.indices.dropFirst() {
                let room = width - Self.total(shown.map(\.width))
                let place = shown[index]
                let missing = place[keyPath: goal] - place.width
                guard room > 0, missing > 0, !place.hasShortForms || missing <= room else {
                    continue
                }
                shown[index].width += min(room, missing)
            }
        }
    }

    private static func total(_ widths: [Int]) -> Int {
        widths.reduce(0, +) + gap.count * max(0, widths.count - 1)
    }

    // MARK: Lines

    private func lines(of row: [Cell], _ layout: [Place], _ terminal: Terminal) -> [String] {
        var row = row
        var lines: [String] = []
        if DisplayWidth.of(row[0].text) > layout[0].width {
            lines.append(terminal.paint(row[0].text, row[0].style))
            row[0] = Cell(" ")
        }
        let (last, rest) = lastCell(row, layout, terminal)
        let cells = layout.enumerated().map { index, place in
            let cell = row[place.column]
            let text = index == layout.count - 1 ? last : text(of: cell, place, terminal)
            let spaces = String(repeating: " ", count: max(0, place.width - DisplayWidth.of(text)))
            let painted = terminal.paint(text, cell.style)
            if columns[place.column].isNumber { return spaces + painted }
            return index == layout.count - 1 ? painted : painted + spaces
        }
        lines.append(cells.joined(separator: Self.gap))
        let margin = String(
            repeating: " ",
            count: Self.total(layout.dropLast().map(\.width)) + Self.gap.count)
        return lines
            + rest.map { margin + terminal.paint($0, layout.last.flatMap { row[$0.column].style }) }
    }

    /// The first line of the last cell, and its further lines.
    private func lastCell(
        _ row: [Cell], _ layout: [Place], _ terminal: Terminal
    ) -> (text: String, rest: ArraySlice<String>) {
        guard let place = layout.last else { return ("", []) }
        let cell = row[place.column]
        guard columns[place.column].wraps else { return (text(of: cell, place, terminal), []) }
        let lines = cell.text.wrapped(to: place.width)
        return (lines[0], lines.dropFirst())
    }

    private func text(of cell: Cell, _ place: Place, _ terminal: Terminal) -> String {
        // Names were dealt with, and are never cut.
        if place.column == 0 || DisplayWidth.of(cell.text) <= place.width { return cell.text }
        return cell.short ?? cell.text.cut(to: place.width, terminal.ellipsis)
    }
}
