import { randomInt } from 'node:crypto'

/**
 * Generates a voucher number: 9, 14 cryptographically random digits, and a check digit (Luhn, ISO/IEC 7812-1), so that typing errors are
 * detected without a request. No payment card begins with 9.
 */
export function generateVoucherNumber(): string {
  const digits = `9${String(randomInt(10 ** 14)).padStart(14, '0')}`
  return digits + getCheckDigit(digits)
}

/** Generates a PIN: 6 cryptographically random digits, all PINs equally likely. */
export const generatePin = () => String(randomInt(10 ** 6)).padStart(6, '0')

function getCheckDigit(digits: string) {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const weighted = i % 2 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return String((10 - (sum % 10)) % 10)
}
