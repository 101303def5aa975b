import { decideWithin } from '../../backoffice/embedded/vouchers/standing.ts'
import { VoucherLedger } from '../../domain/vouchers/ledger.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import { unusable } from '../../domain/vouchers/use.ts'
import { Voucher } from '../../domain/vouchers/vouchers.ts'
import { ApiError, notFound } from '../../errors.ts'
import type { Api } from '../../http/api.ts'
import { NoBody } from '../../http/body/body.ts'
import type { Context } from '../../http/operation.ts'
import type { Service } from '../../settings.ts'
import { personsOf, readLedger } from '../../store/vouchers/ledger.ts'
import { readVoucher } from '../../store/vouchers/vouchers.ts'

const [tag, role, kind] = ['Gift vouchers', 'admin', 'voucher'] as const
const params = { number: { description: 'The number printed on the voucher.', example: '2062389' } }

/** What an admin decides, and the state that it leads to: a voucher that is in it already stays as it is. */
const decisions = [
  {
    decision: 'suspend',
    operationId: 'suspendVoucher',
    leadsTo: 'suspended',
    summary: 'Stops a gift voucher from being used, also where a sale holds it, until it is resumed.',
  },
  {
    decision: 'resume',
    operationId: 'resumeVoucher',
    leadsTo: 'active',
    summary: 'Lets a suspended gift voucher be used again.',
  },
  {
    decision: 'release',
    operationId: 'releaseVoucher',
    leadsTo: 'active',
    summary: 'Takes a gift voucher from the sale that holds it.',
  },
] as const

const noPin = 'For admins, who need no PIN; with a head office that keeps the vouchers it is 409.'

/** Gift vouchers for whoever looks after the service: what has become of one, and stopping it. */
export function voucherLedgers(api: Api) {
  api.get(
    '/vouchers/:number/ledger',
    {
      operationId: 'getVoucherLedger',
      tag,
      role,
      summary: 'A gift voucher, with each step in its ledger.',
      description: `Whom it is for, and how far the e-mail has come, too. ${noPin}`,
      params,
      answer: VoucherLedger,
      kind,
      errors: ['capability_unavailable'],
    },
    async ({ db, service, driver, params: { number } }) => {
      requireOurs(driver)
      const voucher = await readVoucher(db, service, number)
      if (!voucher) return
      const persons = await personsOf(db, service, number)
      const { senderName = null, receiverName = null, receiverEmail = null } = persons ?? {}
      const steps = await readLedger(db, service, number)
      return { data: { voucher, senderName, receiverName, receiverEmail, steps } }
    },
  )

  for (const { decision, operationId, leadsTo, summary } of decisions)
    api.post(
      `/vouchers/:number/${decision}`,
      {
        operationId,
        tag,
        role,
        status: 200,
        summary,
        description: `One that is ${leadsTo} stays as it is. What was validated before counts no more. ${noPin}`,
        params,
        body: NoBody,
        answer: Voucher,
        errors: ['capability_unavailable', 'voucher_unusable'],
      },
      ({ service, driver, params: { number } }) => {
        requireOurs(driver)
        return async tx => {
          const outcome = await decideWithin(tx, service, number, decision)
          const voucher = outcome && (await readVoucher(tx, service, number))
          if (!outcome || !voucher) throw notFound(kind)
          if (!outcome.done && outcome.state !== leadsTo) throw impossible(outcome.state, voucher.currency, service)
          return { data: voucher, subject: `/vouchers/${encodeURIComponent(number)}` }
        }
      },
    )
}

function requireOurs(driver: Context['driver']) {
  if (driver.feeds.length)
    throw new ApiError('capability_unavailable', 'The head office keeps the vouchers: it is decided there.')
}

const impossible = (state: VoucherState, currency: string, { settings }: Service) =>
  unusable({ state, currency }, settings) ?? new ApiError('voucher_unusable', `The voucher is ${state}.`)
