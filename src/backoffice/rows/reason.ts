/** Why a row is refused: `text` is said after our name of the `column`, which is empty where it is the row as a whole. */
export class Reason {
  readonly text: string
  readonly column: string
  constructor(text: string, column = '') {
    this.text = text
    this.column = column
  }
}
