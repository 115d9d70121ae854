/// Arithmetic on numbers from outside: a file system, a file, the network, the environment. Any of them may be as large
/// as its type allows, whatever is plausible, and Swift ends the process where a result does not fit.
extension FixedWidthInteger {
    /// The sum, or the nearest number that there is.
    package func saturatingAdd(_ other: Self) -> Self {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that there is.
    package func saturatingSubtract(_ other: Self) -> Self {
        let (difference, isOverflow) = subtractingReportingOverflow(other)
        return isOverflow ? (self < other ? .min : .max) : difference
    }

    /// The product, or the nearest number that there is.
    package func saturatingMultiply(_ other: Self) -> Self {
        let (product, isOverflow) = multipliedReportingOverflow(by: other)
        return isOverflow ? ((self < 0) != (other < 0) ? .min : .max) : product
    }

    /// What is before the point, or the nearest number that there is; 0 for what is no number.
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
    /// The sum, or the nearest number that there is.
    package func saturatingSum() -> Element { reduce(0) { $0.saturatingAdd($1) } }
}
