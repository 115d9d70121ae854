/// Prometheus' text format, version 0.0.4, read strictly: whatever node_exporter's collector or Prometheus
/// itself would refuse is an error here, and so is what the format's own description calls bad manners.
package struct Exposition: Sendable {
    package struct Sample: Sendable, Equatable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    package struct Family: Sendable {
        package let kind: String
        package let help: String
        package fileprivate(set) var samples: [Sample] = []
    }

    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var families: [String: Family] = [:]

    /// Reads a whole file.
    package init(_ text: String) throws {
        guard text.utf8.last == UInt8(ascii: "\n") else {
            throw Problem(description: "no newline at the end")
        }
        var name = ""
        var help: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("# HELP ") {
                let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1)
                guard parts.count == 2, families[String(parts[0])] == nil else {
                    throw Problem(description: "bad or second HELP: \(line)")
                }
                name = String(parts[0])
                help = try Self.unescaped(String(parts[1]), quotes: false)
            } else if line.hasPrefix("# TYPE ") {
                let parts = line.dropFirst(7).split(separator: " ")
                guard parts.count == 2, parts[0] == name, let given = help,
                    ["counter", "gauge", "histogram"].contains(parts[1])
                else { throw Problem(description: "TYPE without HELP or of no kind: \(line)") }
                families[name] = Family(kind: String(parts[1]), help: given)
                help = nil
            } else {
                let sample = try Self.sample(String(line))
                guard var family = families[name], Self.belongs(sample.name, name, family.kind)
                else {
                    throw Problem(description: "not of the family \(name): \(line)")
                }
                guard
                    !family.samples.contains(where: {
                        $0.name == sample.name && $0.labels == sample.labels
                    })
                else { throw Problem(description: "given twice: \(line)") }
                family.samples.append(sample)
                families[name] = family
            }
        }
        for (name, family) in families { try Self.check(name, family) }
    }

    /// The value of the one series with these labels among others.
    package func value(_ name: String, _ labels: [String: String] = [:]) throws -> Double {
        let found = families.values.flatMap(\.samples).filter { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }
        guard found.count == 1 else {
            throw Problem(description: "\(found.count) series \(name) with \(labels)")
        }
        return found[0].value
    }

    /// The sum of all series of a name.
    package func sum(_ name: String) -> Double {
        families.values.flatMap(\.samples).filter { $0.name == name }.map(\.value).reduce(0, +)
    }

    // MARK: Reading

    private static func sample(_ line: String) throws -> Sample {
        let problem = Problem(description: "no sample: \(line)")
        let name = line.prefix {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":")
        }
        guard let first = name.first, !first.isNumber else { throw problem }
        var rest = line.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
                rest = rest.dropFirst(label.count)
                guard let first = label.first, !first.isNumber, rest.hasPrefix("=\"") else {
                    throw problem
                }
                rest = rest.dropFirst(2)
                var value = ""
                while let character = rest.popFirst(), character != "\"" {
                    value.append(character)
                    if character == "\\", let next = rest.popFirst() { value.append(next) }
                }
                let known = labels.updateValue(
                    try unescaped(value, quotes: true), forKey: String(label))
                guard known == nil else { throw problem }
                if rest.first == "," {
                    rest = rest.dropFirst()
                } else if rest.first != "}" {
                    throw problem
                }
            }
            rest = rest.dropFirst()
        }
        // No time: the textfile collector refuses samples that have one.
        guard rest.first == " ", let value = Double(rest.dropFirst()) else { throw problem }
        return Sample(name: String(name), labels: labels, value: value)
    }

    private static func unescaped(_ text: String, quotes: Bool) throws -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\\" else {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": result.append("\\")
            case "n": result.append("\n")
            case "\"" where quotes: result.append("\"")
            default: throw Problem(description: "bad escape in \(text)")
            }
        }
        return result
    }

    // MARK: Checks

    private static func belongs(_ sample: String, _ family: String, _ kind: String) -> Bool {
        guard kind == "histogram" else { return sample == family }
        return ["_bucket", "_sum", "_count"].contains { sample == family + $0 }
    }

    private static func check(_ name: String, _ family: Family) throws {
        if (family.kind == "counter") != name.hasSuffix("_total") {
            throw Problem(description: "\(name) is a \(family.kind)")
        }
        if family.kind == "counter", family.samples.contains(where: { $0.value < 0 }) {
            throw Problem(description: "\(name) is below 0")
        }
        if family.kind == "histogram" { try checkHistogram(name, family.samples) }
    }

    /// Of each histogram: bounds that rise to +Inf, counts that do not fall, the last of them its count.
    private static func checkHistogram(_ name: String, _ samples: [Sample]) throws {
        var buckets: [[String: String]: [(bound: Double, count: Double)]] = [:]
        for sample in samples where sample.name == name + "_bucket" {
            guard let bound = sample.labels["le"].flatMap({ $0 == "+Inf" ? .infinity : Double($0) })
            else { throw Problem(description: "a bucket of \(name) without a bound") }
            buckets[sample.labels.filter { $0.key != "le" }, default: []].append(
                (bound, sample.value))
        }
        let counts = samples.filter { $0.name == name + "_count" }
        let sums = samples.filter { $0.name == name + "_sum" }
        guard counts.count == buckets.count, sums.count == buckets.count else {
            throw Problem(
                description: "\(name) has \(buckets.count) histograms, \(counts.count) counts")
        }
        for count in counts {
            let own = buckets[count.labels] ?? []
            let rises = zip(own, own.dropFirst()).allSatisfy {
                $0.bound < $1.bound && $0.count <= $1.count
            }
            guard rises, own.last?.bound == .infinity, own.last?.count == count.value else {
                throw Problem(description: "the buckets of \(name) \(count.labels): \(own)")
            }
        }
    }
}
