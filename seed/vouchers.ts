import { formatAmount } from '../src/domain/values/money.ts'
import type { VoucherWithUsage } from '../src/store/vouchers/vouchers.ts'
import { randomFor } from './random.ts'

/** The first voucher of the demo. The documentation contains its PIN. */
export const sampleVoucher = { number: '9100001', pin: '204816' }

const faceValues = [2_000, 2_500, 5_000, 5_000, 5_000, 10_000, 10_000, 15_000, 20_000, 25_000]

/** Builds the gift vouchers: about half unused, others partly used or redeemed, a few suspended, a few expired. */
export function buildVoucherRows(): VoucherWithUsage[] {
  const random = randomFor('vouchers')
  return Array.from({ length: 240 }, (_, i): VoucherWithUsage => {
    const original = random.pick(faceValues)
    const use = i === 0 ? 1 : random.fraction()
    const usedAmount = use < 0.3 ? original : use < 0.5 ? random.integer(1, original / 5 - 1) * 5 : 0
    const state = usedAmount === original ? 'redeemed' : i > 0 && random.chance(0.03) ? 'suspended' : 'active'
    const year = i > 0 && random.chance(0.05) ? 2026 : random.integer(2028, 2030)
    const month = year === 2026 ? random.integer(1, 9) : random.integer(1, 12)
    return {
      number: i === 0 ? sampleVoucher.number : String(9_100_001 + i * 7 + random.integer(0, 6)),
      pin: i === 0 ? sampleVoucher.pin : String(random.integer(0, 999_999)).padStart(6, '0'),
      state,
      originalAmount: formatAmount(BigInt(original), 2),
      usedAmount: formatAmount(BigInt(usedAmount), 2),
      expiryDate: `${year}-${String(month).padStart(2, '0')}-${String(random.integer(1, 28)).padStart(2, '0')}`,
    }
  })
}
