/// Arithmetic with numbers from outside: from a file system, a file, the network, the environment. Each of them may
/// have the largest value of its type, even if that is not plausible, and Swift ends the process on overflow. These
/// results are the nearest values of the type.
extension FixedWidthInteger {
    package func saturatingAdd(_ other: Self) -> Self {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other < 0 ? .min : .max) : sum
    }

    package func saturatingSubtract(_ other: Self) -> Self {
        let (difference, isOverflow) = subtractingReportingOverflow(other)
        return isOverflow ? (self < other ? .min : .max) : difference
    }

    package func saturatingMultiply(_ other: Self) -> Self {
        let (product, isOverflow) = multipliedReportingOverflow(by: other)
        return isOverflow ? ((self < 0) != (other < 0) ? .min : .max) : product
    }

    /// The integer part; 0 for NaN.
    package init(clamping number: Double) {
        if let exact = Self(exactly: number.rounded(.towardZero)) {
            self = exact
        } else if number.isNaN {
            self = 0
        } else {
            self = number < 0 ? .min : .max
        }
    }
}

extension Sequence where Element: FixedWidthInteger {
    package func saturatingSum() -> Element { reduce(0) { $0.saturatingAdd($1) } }
}
