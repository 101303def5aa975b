import { decideOnVoucher } from '../../backoffice/embedded/vouchers/decisions.ts'
import { resendVoucher } from '../../backoffice/embedded/vouchers/resend.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { checkResendLimit } from '../../domain/vouchers/emails.ts'
import { VoucherLedger } from '../../domain/vouchers/ledger.ts'
import { checkUsable } from '../../domain/vouchers/redemption.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import { Voucher, VoucherResend } from '../../domain/vouchers/vouchers.ts'
import { ApiError, notFound } from '../../errors/api-error.ts'
import { EmptyBody } from '../../http/body/body.ts'
import type { ReadContext } from '../../http/routing/operation.ts'
import { get, post } from '../../http/routing/route-definitions.ts'
import { countToday } from '../../store/audit/audit.ts'
import { readEmails, readLedger, readVoucherPersons } from '../../store/vouchers/ledger.ts'
import { readVoucher } from '../../store/vouchers/vouchers.ts'
import { getWriter } from '../../writes/write.ts'

const [tag, role, kind] = ['Gift vouchers', 'admin', 'voucher'] as const
const params = { number: { description: 'The number printed on the voucher.', example: '2062389' } }

/** The operations of an admin, and the state that each leads to. A voucher in that state is not changed. */
const decisions = [
  {
    decision: 'suspend',
    operationId: 'suspendVoucher',
    nextState: 'suspended',
    summary: 'Suspend a voucher',
  },
  {
    decision: 'resume',
    operationId: 'resumeVoucher',
    nextState: 'active',
    summary: 'Resume a voucher',
  },
  {
    decision: 'unlock',
    operationId: 'unlockVoucher',
    nextState: 'active',
    summary: 'Unlock a voucher',
  },
] as const

const buildPath = (number: string) => `/vouchers/${encodeURIComponent(number)}`
const resendPath = '/vouchers/:number/resend'
const noPin = 'The PIN is not needed. If the back office keeps the vouchers: 409 `capability_unavailable`.'

/** Gift vouchers for operators: ledger, suspend, resume, unlock, resend. */
export const voucherLedgers = [
  get(
    '/vouchers/:number/ledger',
    {
      operationId: 'getVoucherLedger',
      tag,
      role,
      summary: "Get a voucher's ledger",
      description: `The voucher with its receiver, emails and ledger. ${noPin}`,
      params,
      response: VoucherLedger,
      recordName: kind,
      errors: ['capability_unavailable'],
    },
    async ({ db, service, driver, params: { number } }) => {
      requireEmbedded(driver)
      const voucher = await readVoucher(db, service, number)
      if (!voucher) return
      const persons = await readVoucherPersons(db, service, number)
      const { senderName = null, receiverName = null, receiverEmail = null } = persons ?? {}
      const entries = await readLedger(db, service, voucher)
      const emails = JSON.parse(await readEmails(db, service, number))
      return { data: { voucher, senderName, receiverName, receiverEmail, emails, entries } }
    },
  ),

  ...decisions.map(({ decision, operationId, nextState, summary }) =>
    post(
      `/vouchers/:number/${decision}`,
      {
        operationId,
        tag,
        role,
        status: 200,
        summary,
        description: `Changes nothing if the voucher is already ${nextState}. Ends earlier validations. ${noPin}`,
        params,
        body: EmptyBody,
        response: Voucher,
        errors: ['capability_unavailable', 'voucher_unusable'],
      },
      ({ service, driver, params: { number }, ...write }) => {
        requireEmbedded(driver)
        return async tx => {
          const outcome = await decideOnVoucher(tx, service, number, decision, getWriter(write))
          const voucher = outcome && (await readVoucher(tx, service, number))
          if (!outcome || !voucher) throw notFound(kind)
          if (!outcome.isApplied && outcome.state !== nextState)
            throw createUnusable(outcome.state, voucher.currency, service)
          return { data: voucher, subject: buildPath(number) }
        }
      },
    ),
  ),

  post(
    resendPath,
    {
      operationId: 'resendVoucher',
      tag,
      role,
      status: 200,
      summary: 'Resend a voucher email',
      description: `If the content of the last unsent email is still stored (\`isContentStored\`), it is sent as it was. Otherwise, or with another \`receiverEmail\`, the voucher gets a new PIN, which only the receiver gets. The previous PIN stops working, and a current lock stays. At most once a minute and 5 times in 24 hours. ${noPin}`,
      params,
      body: VoucherResend,
      response: Voucher,
      errors: ['capability_unavailable', 'voucher_unusable', 'rate_limited'],
    },
    ({ keys, service, driver, params: { number }, body: { receiverEmail } }) => {
      requireEmbedded(driver)
      const subject = buildPath(number)
      return async tx => {
        const voucher = await resendVoucher({ tx, keys, service }, { number, receiverEmail }, async () => {
          const error = checkResendLimit(await countToday(tx, service, `POST ${resendPath}`, subject))
          if (error) throw error
        })
        if (!voucher) throw notFound(kind)
        return { data: voucher, subject }
      }
    },
  ),
]

function requireEmbedded(driver: ReadContext['driver']) {
  if (!driver.isEmbedded)
    throw new ApiError('capability_unavailable', 'The back office keeps the vouchers. Use the back office instead.')
}

const createUnusable = (state: VoucherState, currency: string, { settings }: Service) =>
  checkUsable({ state, currency }, settings) ?? new ApiError('voucher_unusable', `The voucher is ${state}.`)
