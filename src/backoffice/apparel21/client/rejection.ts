import { clean, text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** What the Retail API refuses, or does not have: `<AP21Error>`. Its words are for the log; they may quote anything. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly status: number
  /** Undefined where the answer has none that is a number. */
  readonly code: number | undefined

  constructor(status: number, code: number | undefined, description: string) {
    super(description)
    this.status = status
    this.code = code
  }
}

/** The refusal in an answer's root. */
export function refusalIn(status: number, root: Xml): Refusal {
  const code = Number(text(root, 'ErrorCode') ?? Number.NaN)
  const description = clean(text(root, 'Description')?.slice(0, 500)) ?? ''
  return new Refusal(status, Number.isInteger(code) ? code : undefined, description)
}

/** The refusal that an error was made of, for drivers that can do something about it: 5010, 5052. */
export const refusalBehind = (error: unknown): Refusal | undefined =>
  error instanceof Error && error.cause instanceof Refusal ? error.cause : undefined

/** "No data found": an empty result, or a record that is not there. */
export const noData = 5008

/** Another order, or return, has the number. */
export const numberExists = 5052

/** There is no reward account of this identifier. */
export const accountUnknown = 5152
