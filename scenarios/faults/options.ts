import { InvalidArgumentError } from 'commander'

/** A whole number, as an option is given. */
export function whole(text: string): number {
  if (!/^\d{1,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return Number(text)
}
