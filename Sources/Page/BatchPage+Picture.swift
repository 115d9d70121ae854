import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The view of one picture: before and after, their difference, the filters and the facts.
extension BatchPage {
    func view(of index: Int) {
        let entry = entries[index]
        html(.section, .class("view"), .id(entry.view), .label(entry.image.name)) {
            html(.div) {
                html(.ul, .class("steps")) {
                    step("back", to: entry.grid, "Back to the list")
                    if index > 0 { step("previous", to: entries[index - 1].view, "Previous") }
                    if index + 1 < entries.count {
                        step("next", to: entries[index + 1].view, "Next")
                    }
                }
                html(.h2) {
                    html(.bdi, text: entry.image.name)
                    html.text(" ")
                    badge(entry.image.state)
                    warningBadge(entry.image)
                }
                reason(for: entry.image)
                pair(entry)
                details(entry)
            }
        }
    }

    private func step(_ name: StaticString, to id: AnchorID, _ text: String) {
        html(.li) { html(.a, .class(name), .href(id), text: text) }
    }

    private func pair(_ entry: PageEntry) {
        html(.div, hasSameSizes(entry) ? .class("pair comparable") : .class("pair")) {
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

    private func figure(_ caption: String, _ image: PageImage?, _ note: String?, alt: String) {
        guard image != nil || note != nil else { return }
        html(.figure) {
            html(.figcaption, text: caption)
            if let image {
                picture(image, alt: alt)
            } else if let note {
                html(.p, .class("soft"), text: note)
            }
        }
    }

    private func details(_ entry: PageEntry) {
        let image = entry.image
        html(.dl, .class("facts")) {
            if let output = image.output {
                fact("Result") {
                    if let link = entry.output {
                        html(.a, .href(link), text: output.file)
                    } else {
                        html.text(output.file)
                    }
                }
                fact(
                    "Size of the result",
                    "\(output.width) × \(output.height), \(output.depth) bits, \(Self.channels(output.channels))"
                )
                fact("Bytes", HumanText.bytes(Double(output.bytes)))
            }
            if let size = entry.sourceSize {
                fact("Size of the source", "\(size.width) × \(size.height)")
            }
            if let source = image.source { fact("Source") { html(.bdi, text: source) } }
            if let from = image.from {
                fact("Made from") {
                    if let view = views[ByteString(from)] {
                        html(.a, .href(view)) { html(.bdi, text: from) }
                    } else {
                        html(.bdi, text: from)
                    }
                }
            }
            if let bytes = image.download?.bytes {
                fact("Downloaded", HumanText.bytes(Double(bytes)))
            }
            if let filters = entry.filters {
                fact("Filters") {
                    if filters.isEmpty {
                        html.text("none")
                    } else {
                        html(.ol) { for filter in filters { html(.li, text: filter) } }
                    }
                }
            }
            if image.milliseconds.filtering > 0 {
                fact("Time of the filters", Words.time(milliseconds: image.milliseconds.filtering))
            }
            if image.attempts > 1 { fact("Attempts", "\(image.attempts)") }
            if let metadata = image.metadata, !metadata.isEmpty {
                fact(
                    "Metadata",
                    metadata.sorted { ByteString($0.key) < ByteString($1.key) }
                        .map { "\($0.key) \($0.value)" }.joined(separator: ", "))
            }
            if let warnings = image.warnings, !warnings.isEmpty {
                fact("Warnings") {
                    html(.ul) { for warning in warnings { html(.li, text: warning) } }
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
