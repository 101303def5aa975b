import { normalizeText, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** An `<AP21Error>` of the Retail API: a rejected request or a missing record. The message is for the log only, because it can quote any data. */
export class RetailApiError extends Error {
  override name = 'RetailApiError'
  readonly status: number
  /** The error code. Undefined if the response has no integer code. */
  readonly code: number | undefined

  constructor(status: number, code: number | undefined, description: string) {
    super(description)
    this.status = status
    this.code = code
  }
}

/** Parses the root element of an error response. */
export function parseRetailApiError(status: number, root: Xml): RetailApiError {
  const code = Number(readText(root, 'ErrorCode') ?? Number.NaN)
  const description = normalizeText(readText(root, 'Description')?.slice(0, 500)) ?? ''
  return new RetailApiError(status, Number.isInteger(code) ? code : undefined, description)
}

/** Returns the Retail API's error that caused an `ApiError`, so that callers can handle codes such as 5010 and 5052. */
export const findRetailApiError = (error: unknown): RetailApiError | undefined =>
  error instanceof Error && error.cause instanceof RetailApiError ? error.cause : undefined

/** "No data found": an empty result or a missing record. */
export const noData = 5008

/** Another person has the email address. */
export const emailTaken = 5006

/** Another order or return already has the number. */
export const numberExists = 5052

/** No reservation of a coupon has this request ID. */
export const couponRequestUnknown = 5234

/** No reward account has this identifier. */
export const accountUnknown = 5152

/** A redemption with this request ID has been created, confirmed or reversed before. */
export const alreadyProcessed = 5163

/** No redemption has this request ID, or it can't be reversed any more. */
export const requestUnknown = 5165
