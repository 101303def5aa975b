import { randomInt } from 'node:crypto'

/**
 * A voucher's number: 9, 14 random digits from a cryptographic source, and a check digit (Luhn, ISO/IEC 7812-1), so that a slip of
 * the finger is noticed without asking. Payment cards do not begin with a 9.
 */
export function makeVoucherNumber(): string {
  const digits = `9${String(randomInt(10 ** 14)).padStart(14, '0')}`
  return digits + checkDigit(digits)
}

/** A PIN: 6 random digits from a cryptographic source, each PIN as likely as any other. */
export const makePin = () => String(randomInt(10 ** 6)).padStart(6, '0')

function checkDigit(digits: string) {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const weighed = i % 2 ? digit : digit * 2
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return String((10 - (sum % 10)) % 10)
}
