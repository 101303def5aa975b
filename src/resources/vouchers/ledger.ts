import { decideOnVoucher } from '../../backoffice/embedded/vouchers/decisions.ts'
import { sendAgain } from '../../backoffice/embedded/vouchers/resend.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { tooOften } from '../../domain/vouchers/emails.ts'
import { VoucherLedger } from '../../domain/vouchers/ledger.ts'
import { unusable } from '../../domain/vouchers/redemption.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import { SendingAgain, Voucher } from '../../domain/vouchers/vouchers.ts'
import { ApiError, notFound } from '../../errors/api-error.ts'
import { NoBody } from '../../http/body/body.ts'
import type { Api } from '../../http/routing/api.ts'
import type { Context } from '../../http/routing/operation.ts'
import { timesOfDay } from '../../store/audit/audit.ts'
import { personsOf, readEmails, readLedger } from '../../store/vouchers/ledger.ts'
import { readVoucher } from '../../store/vouchers/vouchers.ts'

const [tag, role, kind] = ['Gift vouchers', 'admin', 'voucher'] as const
const params = { number: { description: 'The number printed on the voucher.', example: '2062389' } }

/** What an admin decides, and the state that it leads to: a voucher that is in it already stays as it is. */
const decisions = [
  {
    decision: 'suspend',
    operationId: 'suspendVoucher',
    leadsTo: 'suspended',
    summary: 'Suspend a voucher',
  },
  {
    decision: 'resume',
    operationId: 'resumeVoucher',
    leadsTo: 'active',
    summary: 'Resume a voucher',
  },
  {
    decision: 'release',
    operationId: 'releaseVoucher',
    leadsTo: 'active',
    summary: 'Unlock a voucher',
  },
] as const

const pathOf = (number: string) => `/vouchers/${encodeURIComponent(number)}`
const again = '/vouchers/:number/send-again'
const noPin = 'For admins, who need no PIN; with a head office that keeps the vouchers it is 409.'

/** Gift vouchers for whoever looks after the service: what has become of one, and stopping it. */
export function voucherLedgers(api: Api) {
  api.get(
    '/vouchers/:number/ledger',
    {
      operationId: 'getVoucherLedger',
      tag,
      role,
      summary: "Get a voucher's ledger",
      description: `Whom it is for, and what has become of its e-mails, too. ${noPin}`,
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
      const steps = await readLedger(db, service, voucher)
      const emails = JSON.parse(await readEmails(db, service, number))
      return { data: { voucher, senderName, receiverName, receiverEmail, emails, steps } }
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
          const outcome = await decideOnVoucher(tx, service, number, decision)
          const voucher = outcome && (await readVoucher(tx, service, number))
          if (!outcome || !voucher) throw notFound(kind)
          if (!outcome.done && outcome.state !== leadsTo) throw impossible(outcome.state, voucher.currency, service)
          return { data: voucher, subject: pathOf(number) }
        }
      },
    )

  api.post(
    again,
    {
      operationId: 'sendVoucherAgain',
      tag,
      role,
      status: 200,
      summary: 'Resend a voucher email',
      description: `An e-mail that never left goes out as it was written, at once or on its day, as long as what it says is kept (\`wordsKept\`). Otherwise, and for another address, the voucher has a new PIN, which nobody but the receiver is told: the one before opens it no more, and a sale that holds it goes on. At most once a minute, and 5 times in 24 hours. ${noPin}`,
      params,
      body: SendingAgain,
      answer: Voucher,
      errors: ['capability_unavailable', 'voucher_unusable', 'rate_limited'],
    },
    ({ keys, service, driver, params: { number }, body: { receiverEmail } }) => {
      requireOurs(driver)
      const subject = pathOf(number)
      return async tx => {
        const voucher = await sendAgain({ tx, keys, service }, { number, receiverEmail }, async () => {
          const against = tooOften(await timesOfDay(tx, service, `POST ${again}`, subject))
          if (against) throw against
        })
        if (!voucher) throw notFound(kind)
        return { data: voucher, subject }
      }
    },
  )
}

function requireOurs(driver: Context['driver']) {
  if (!driver.isOurs)
    throw new ApiError('capability_unavailable', 'The back office keeps the vouchers. Use the back office instead.')
}

const impossible = (state: VoucherState, currency: string, { settings }: Service) =>
  unusable({ state, currency }, settings) ?? new ApiError('voucher_unusable', `The voucher is ${state}.`)
