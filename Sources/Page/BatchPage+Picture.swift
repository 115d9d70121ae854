import DarkroomClient
import DarkroomCore
import DarkroomSpool

/// The view of one picture: before and after, their difference, the filters and the facts.
extension BatchPage {
    func view(of index: Int) -> Markup {
        let entry = entries[index]
        return Markup(.section, .class("view"), .id(entry.view), .label(entry.image.name)) {
            Markup(.div) {
                Markup(.ul, .class("steps")) {
                    Markup(.li) { step("back", to: entry.grid, "Back to the list") }
                    if index > 0 {
                        Markup(.li) { step("previous", to: entries[index - 1].view, "Previous") }
                    }
                    if index + 1 < entries.count {
                        Markup(.li) { step("next", to: entries[index + 1].view, "Next") }
                    }
                }
                Markup(.h2) {
                    Markup(.bdi) { entry.image.name }
                    " "
                    badge(entry.image.state)
                }
                if let error = entry.image.error {
                    Markup(.p) {
                        error.message
                        " "
                        Markup(.code) { error.code }
                    }
                    Markup(.p, .class("soft")) { remedy(error.isTransient) }
                }
                pair(entry)
                details(entry)
            }
        }
    }

    private func step(_ name: StaticString, to id: AnchorID, _ text: String) -> Markup {
        Markup(.a, .class(name), .href(id)) { text }
    }

    private func pair(_ entry: PageEntry) -> Markup {
        Markup(.div, hasSameSizes(entry) ? .class("pair comparable") : .class("pair")) {
            figure(
                entry.isBeforeReduced ? "Before (a small copy)" : "Before", entry.before?.large,
                entry.beforeNote, alt: "\(entry.image.name) before")
            figure("After", entry.after?.large, entry.afterNote, alt: "\(entry.image.name) after")
            if let difference = entry.difference {
                figure(
                    entry.isBeforeReduced
                        ? "Difference (of small copies; brighter where more has changed)"
                        : "Difference (brighter where more has changed)", difference, nil,
                    alt: "Difference of \(entry.image.name)")
            }
        }
    }

    /// Whether both pictures can be laid over each other. The program of the page does it when the view opens.
    private func hasSameSizes(_ entry: PageEntry) -> Bool {
        guard let before = entry.before?.large, let after = entry.after?.large else { return false }
        return before.width == after.width && before.height == after.height
    }

    private func figure(
        _ caption: String, _ image: PageImage?, _ note: String?, alt: String
    ) -> Markup {
        guard image != nil || note != nil else { return .nothing }
        return Markup(.figure) {
            Markup(.figcaption) { caption }
            if let image {
                picture(image, alt: alt)
            } else if let note {
                Markup(.p, .class("soft")) { note }
            }
        }
    }

    private func details(_ entry: PageEntry) -> Markup {
        let image = entry.image
        return Markup(.dl, .class("facts")) {
            if let output = image.output {
                fact("Result") {
                    if let link = entry.output {
                        Markup(.a, .href(link)) { output.file }
                    } else {
                        output.file
                    }
                }
                fact("Size of the result") {
                    "\(output.width) × \(output.height), \(output.depth) bits, \(Self.channels(output.channels))"
                }
                fact("Bytes") { HumanText.bytes(Double(output.bytes)) }
            }
            if let size = entry.sourceSize {
                fact("Size of the source") { "\(size.width) × \(size.height)" }
            }
            if let source = image.source { fact("Source") { Markup(.bdi) { source } } }
            if let from = image.from {
                fact("Made from") {
                    if let view = views[ByteString(from)] {
                        Markup(.a, .href(view)) { Markup(.bdi) { from } }
                    } else {
                        Markup(.bdi) { from }
                    }
                }
            }
            if let bytes = image.download?.bytes {
                fact("Downloaded") { HumanText.bytes(Double(bytes)) }
            }
            if let filters = entry.filters {
                fact("Filters") {
                    if filters.isEmpty {
                        "none"
                    } else {
                        Markup(.ol) { filters.map { filter in Markup(.li) { filter } } }
                    }
                }
            }
            if image.milliseconds.filtering > 0 {
                fact("Time of the filters") { milliseconds(image.milliseconds.filtering) }
            }
            if image.attempts > 1 { fact("Attempts") { "\(image.attempts)" } }
            if let metadata = image.metadata, !metadata.isEmpty {
                fact("Metadata") {
                    metadata.sorted { ByteString($0.key) < ByteString($1.key) }
                        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
                }
            }
            if let warnings = image.warnings, !warnings.isEmpty {
                fact("Warnings") {
                    Markup(.ul) { warnings.map { warning in Markup(.li) { warning } } }
                }
            }
        }
    }

    private static func channels(_ count: Int) -> String {
        switch count {
        case 1: "gray"
        case 2: "gray and alpha"
        case 3: "RGB"
        default: "RGB and alpha"
        }
    }
}
