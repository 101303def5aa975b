import { Voucher } from '../domain/vouchers.ts'
import { ApiError } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { lookUpVoucher } from '../store/vouchers.ts'

/** Contract 7, the look-up. */
export function vouchers(api: Api) {
  api.get(
    '/vouchers/:number',
    {
      tag: 'Gift vouchers',
      summary: 'The balance, expiry and status of a gift voucher.',
      description:
        'The PIN travels in a header, never in the URL. An unknown number and a wrong PIN are one and the same answer; after 5 wrong PINs a voucher refuses for a growing time, the right PIN too.',
      params: { number: { description: 'The number printed on the voucher.', example: '2062389' } },
      headers: { 'X-Voucher-Pin': { description: 'The PIN that goes with the number.', example: '381940' } },
      answer: Voucher,
      errors: ['voucher_not_accepted', 'too_many_failures'],
    },
    async ({ db, keys, service, params, header, address }) => {
      const found = await lookUpVoucher(db, keys, service, {
        number: params.number,
        pin: header('X-Voucher-Pin') ?? '',
        address,
      })
      if (found === 'not accepted') throw new ApiError('voucher_not_accepted')
      if ('retryAfter' in found) throw new ApiError('too_many_failures', undefined, { retryAfter: found.retryAfter })
      return found
    },
  )
}
