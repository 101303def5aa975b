/** The test that causes a fault: its file, seen from `test/`, and its title, with `…` where values are put in. */
export type Shown = readonly [file: string, title: string]

/** A fault, by its number in the catalogue: what is caused, and the tests that cause it. */
export type Case = readonly [number: number, caused: string, first: Shown, ...more: readonly Shown[]]

export interface Section {
  title: string
  cases: readonly Case[]
}
