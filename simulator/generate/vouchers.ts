import { dayMs, formatDate, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import { emailVoucher, type Voucher } from '../shop/records.ts'

/** Vouchers of every shop, regardless of its seed: one for each reason to reject a voucher. */
const specimens: readonly (Partial<Voucher> & { number: string; pin: string })[] = [
  { number: '6000001', pin: '1234', original: 100 },
  { number: '6000002', pin: '0042', original: 50, used: 10.5 },
  { number: '6000003', pin: '3333', original: 75, used: 75 },
  { number: '6000004', pin: '4444', state: 'not issued', original: 0 },
  { number: '6000005', pin: '5555', state: 'suspended' },
  { number: '6000006', pin: '6666', state: 'range suspended' },
  { number: '6000007', pin: '7777', original: 60, used: 5 },
  { number: '6000008', pin: '', secure: false },
  { number: '6000009', pin: '9999', original: 25, wholeOnly: true },
  { number: '6000010', pin: '1010', currency: 'NZD' },
  { number: '6000011', pin: '1111', original: 20, promotional: true },
  { number: '6000012', pin: '001212', original: 80, used: 10, writtenOff: 20 },
  { number: '6900001', pin: '1001', state: 'not issued', type: 'GV_CARD', original: 0 },
  { number: '6900002', pin: '1002', state: 'not issued', type: 'GV_CARD', original: 0 },
  { number: '6900003', pin: '1003', state: 'not issued', promotional: true, original: 0 },
]

export function makeVouchers(count: number, today: Wall, random: Random): Map<string, Voucher> {
  const usual: Voucher = {
    number: '',
    pin: '',
    type: emailVoucher,
    currency: 'AUD',
    original: 100,
    used: 0,
    writtenOff: 0,
    state: 'issued',
    secure: true,
    wholeOnly: false,
    promotional: false,
    validationId: '',
    lockedUntil: 0,
    expires: formatDate(today + 700 * dayMs),
  }
  const vouchers = specimens.map(specimen => ({ ...usual, ...specimen }))
  for (const voucher of vouchers) if (voucher.number === '6000007') voucher.expires = formatDate(today - dayMs)
  for (let i = 0; i < count; i++) {
    const original = random.integer(1, 20) * 10
    vouchers.push({
      ...usual,
      number: String(6_000_101 + i),
      pin: String(random.integer(0, 9_999)).padStart(4, '0'),
      original,
      used: random.chance(0.3) ? random.integer(0, original) : 0,
      expires: random.chance(0.1) ? '' : formatDate(today + random.integer(-100, 1_000) * dayMs),
    })
  }
  return new Map(vouchers.map(voucher => [voucher.number, voucher]))
}
