import type { Coupon } from '../shop/records.ts'

const usual = {
  status: 'Enabled',
  validFrom: '2020-01-01',
  validTo: '2099-12-31',
  personId: 0,
  percentage: 20,
} as const

/** Coupons of every state. Generic ones can be used by everybody and often, unique ones once. */
export function makeCoupons(): Map<string, Coupon> {
  const coupons: Omit<Coupon, 'redeemed' | 'lockedBy' | 'lockedUntil'>[] = [
    { ...usual, code: 'BLACK21', name: 'BLACK FRIDAY 21', type: 'Generic' },
    { ...usual, code: 'SEASON1', name: 'New season', type: 'Unique' },
    { ...usual, code: 'SEASON2', name: 'New season', type: 'Unique' },
    { ...usual, code: 'DISABLED', name: 'Disabled', type: 'Generic', status: 'Disabled' },
    { ...usual, code: 'EARLY', name: 'Early', type: 'Generic', validFrom: '2099-01-01' },
    { ...usual, code: 'EXPIRED', name: 'Expired', type: 'Generic', validTo: '2020-12-31' },
    { ...usual, code: 'ELSEWHERE', name: 'For other items', type: 'Unique', percentage: 0 },
    { ...usual, code: 'PERSONAL', name: 'Personal', type: 'Unique', personId: 3_001 },
  ]
  return new Map(coupons.map(coupon => [coupon.code, { ...coupon, redeemed: false, lockedBy: '', lockedUntil: 0 }]))
}
