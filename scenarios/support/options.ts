import { InvalidArgumentError } from 'commander'

/** Parses an integer of at most 9 digits. */
export function integer(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be an integer.')
  return Number(text)
}

/** Parses a number above 0. */
export function positive(text: string): number {
  if (!/^\d{1,5}(\.\d+)?$/.test(text) || Number(text) <= 0)
    throw new InvalidArgumentError('It must be a number above 0.')
  return Number(text)
}
