import { InvalidArgumentError } from 'commander'

/** Parses an integer of at most 9 digits. */
export function parseInteger(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be an integer.')
  return Number(text)
}

/** Parses a number above 0. */
export function parsePositiveNumber(text: string): number {
  if (!/^\d{1,5}(\.\d+)?$/.test(text) || Number(text) <= 0)
    throw new InvalidArgumentError('It must be a number above 0.')
  return Number(text)
}
