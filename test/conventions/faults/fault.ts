/** A test that causes a fault: its path below `test/` and its title, with `…` for each interpolated value. */
export type TestReference = readonly [file: string, title: string]

/** A fault: its number in the catalogue, its description and the tests that cause it. */
export type Case = readonly [
  number: number,
  description: string,
  first: TestReference,
  ...more: readonly TestReference[],
]

export interface Section {
  title: string
  cases: readonly Case[]
}
