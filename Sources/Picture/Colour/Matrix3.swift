/// A matrix of three rows and columns.
struct Matrix3: Sendable, Equatable {
    var rows: [[Double]]

    static func diagonal(_ values: [Double]) -> Matrix3 {
        Matrix3(rows: (0..<3).map { row in (0..<3).map { $0 == row ? values[row] : 0 } })
    }

    static func * (one: Matrix3, other: Matrix3) -> Matrix3 {
        Matrix3(
            rows: one.rows.map { row in
                (0..<3).map { column in
                    (0..<3).reduce(0) { $0 + row[$1] * other.rows[$1][column] }
                }
            })
    }

    static func * (one: Matrix3, vector: [Double]) -> [Double] {
        one.rows.map { row in (0..<3).reduce(0) { $0 + row[$1] * vector[$1] } }
    }

    /// nil if it has none, or numbers that are not finite.
    var inverse: Matrix3? {
        let m = rows
        func minor(_ row: Int, _ column: Int) -> Double {
            let r = (0..<3).filter { $0 != row }
            let c = (0..<3).filter { $0 != column }
            return m[r[0]][c[0]] * m[r[1]][c[1]] - m[r[0]][c[1]] * m[r[1]][c[0]]
        }
        let determinant = (0..<3).reduce(0.0) { sum, column in
            sum + (column == 1 ? -1 : 1) * m[0][column] * minor(0, column)
        }
        guard determinant.isFinite, abs(determinant) > 1e-9 else { return nil }
        return Matrix3(
            rows: (0..<3).map { row in
                (0..<3).map { column in
                    ((row + column) % 2 == 0 ? 1 : -1) * minor(column, row) / determinant
                }
            })
    }
}
