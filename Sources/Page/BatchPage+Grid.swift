import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The images of a page as small pictures.
extension BatchPage {
    func grid() {
        let shown = entries.filter { !$0.isOnlyForOthers }
        guard !entries.isEmpty else { return }
        html(.section) {
            html(.h2, text: count > 1 ? "Images, page \(number) of \(count)" : "Images")
            html(.ul, .class("grid")) {
                var isAfterGroup = false
                for group in Self.groups(shown) {
                    if group.count > 1 { title(of: group) }
                    for entry in group {
                        card(entry, beginsRow: isAfterGroup && group.count == 1)
                        isAfterGroup = false
                    }
                    isAfterGroup = group.count > 1
                }
            }
            others()
        }
    }

    /// The results of one picture follow each other in the manifest. They look alike, so they are shown together.
    private static func groups(_ entries: [PageEntry]) -> [[PageEntry]] {
        var groups: [[PageEntry]] = []
        for entry in entries {
            if let source = entry.image.source, let last = groups.last?.last?.image.source,
                ByteString(source) == ByteString(last)
            {
                groups[groups.count - 1].append(entry)
            } else {
                groups.append([entry])
            }
        }
        return groups
    }

    private func title(of group: [PageEntry]) {
        html(.li, .class("group")) {
            let source = group[0].image.source ?? ""
            let name = source.utf8.split(separator: UInt8(ascii: "/")).last
            html(.bdi, text: name.map { String(Substring($0)) } ?? source)
            html(.span, .class("soft"), text: ", \(Words.count(group.count, "result"))")
        }
    }

    private func card(_ entry: PageEntry, beginsRow: Bool) {
        html(.li, .id(entry.grid), beginsRow ? .class("row") : nil) {
            html(.a, .href(entry.view)) {
                html(.span, .class("frame")) {
                    if let small = entry.after?.small {
                        // A screen reader reads only the name that follows.
                        picture(small, alt: "not shown: the file may be gone", isRead: false)
                    } else if let note = entry.afterNote {
                        html.text(note)
                    } else {
                        badge(entry.image.state)
                    }
                }
                html(.span, .class("name")) { html(.bdi, text: entry.image.name) }
                if let output = entry.image.output {
                    html(.span, .class("size"), text: "\(output.width) × \(output.height)")
                }
                warningBadge(entry.image)
            }
        }
    }

    /// The pictures without a file of their own, such as the logo of a watermark: there is nothing to see of them.
    private func others() {
        let others = entries.filter(\.isOnlyForOthers)
        guard !others.isEmpty else { return }
        html(.details) {
            html(
                .summary,
                text: "\(Words.count(others.count, "image")) without a file, used by other images")
            html(.ul) {
                for entry in others {
                    html(.li, .id(entry.grid)) {
                        html(.a, .href(entry.view)) { html(.bdi, text: entry.image.name) }
                        warningBadge(entry.image)
                    }
                }
            }
        }
    }
}
