import { countReplayedGuess } from '../../backoffice/vouchers/guesses.ts'
import { formatAmount as canonical, getDecimals, parseAmount } from '../../domain/values/money.ts'
import {
  IssuedVoucher,
  ReadVoucher,
  ValidatedVoucher,
  Voucher,
  VoucherInput,
  VoucherLock,
  VoucherOpening,
  VoucherValidation,
} from '../../domain/vouchers/vouchers.ts'
import { ApiError, type FieldError, toApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { get, post, put } from '../../http/routing/route-definitions.ts'
import { Type } from '../../schemas/schemas.ts'
import { mapCommitPhase } from '../../writes/write.ts'

const tag = 'Gift vouchers'
const numberParameter = { description: 'The number printed on the voucher.', example: '2062389' }
const pinDescription =
  'An unknown number and a wrong PIN get the same response. After 5 wrong PINs, the voucher rejects every PIN for a growing time.'
const validationDescription =
  'The new `validationId` replaces the previous one. If another client has locked the voucher: 409 `voucher_locked`, and the lock stays.'
const pinErrors = [
  ...(['voucher_not_accepted', 'voucher_unusable', 'too_many_failures'] as const),
  ...(['back_office_error', 'back_office_unavailable'] as const),
] as const
const validationErrors = [
  ...pinErrors,
  'voucher_locked',
  'insufficient_voucher_balance',
  'voucher_must_be_used_in_full',
] as const

const shopperIp = '203.0.113.7'
/** The header of operations that check a PIN. */
const shopperHeader = {
  'X-Shopper-IP': {
    description:
      'The IP address of the shopper. For a trusted account, wrong PINs count against this address instead of the address of the web shop. For any other account, the header is ignored.',
    example: shopperIp,
    required: false,
    schema: Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })], {
      $id: 'IpAddress',
      examples: [shopperIp],
    }),
  },
}

const buildPath = (number: string) => `/vouchers/${encodeURIComponent(number)}`

/** The path of the voucher, or of its order while it has no number. */
const buildIssuedPath = ({ number, orderNumber }: IssuedVoucher) =>
  number === null ? `/orders/${encodeURIComponent(orderNumber ?? '')}` : buildPath(number)

/** Returns a rejection instead of throwing it, because the failed attempt must be counted and committed. */
const toResult = <T extends object>(voucher: T | ApiError, subject: string) =>
  voucher instanceof ApiError ? voucher : { data: voucher, subject }

/** The lock has a PUT and a POST route, for clients that can't send PUT. */
const lockMethods = [
  [
    'lockVoucher',
    'Lock a voucher',
    put,
    `With a \`validationId\`, or with the \`pin\`, which validates the voucher first and returns a \`validationId\`. Use it to renew the lock, to pay or to unlock. Only one client can hold the lock: others get 409 \`voucher_locked\`. The same validation can renew the lock, starting now. \`lockSeconds: 0\` unlocks. ${pinDescription}`,
  ],
  ['lockVoucherByPost', 'Lock a voucher (POST)', post, 'The same as `PUT`, for clients that can only send POST.'],
] as const

/** Gift vouchers for shops: look up, validate, lock, issue. */
export const vouchers = [
  get(
    '/vouchers/:number',
    {
      operationId: 'getVoucher',
      tag,
      summary: 'Get a voucher',
      description: `Send the PIN in the header, never in the URL. With \`amount\`, the voucher is validated too, as by \`POST /vouchers/validate\`. ${pinDescription}`,
      params: { number: numberParameter },
      headers: {
        'X-Voucher-Pin': { description: 'The PIN of the voucher.', example: '381940' },
        ...shopperHeader,
      },
      query: Type.Object({
        amount: Type.Optional(
          Type.String({
            description: 'The amount to pay.',
            maxLength: 20,
            pattern: '^(?=.*[1-9])(0|[1-9]\\d{0,11})(\\.\\d{1,4})?$',
            examples: ['39.95'],
          }),
        ),
      }),
      response: ReadVoucher,
      errors: validationErrors,
      validate: ({ amount }, _, { settings }) =>
        amount === undefined ? [] : validateAmount(amount, settings.currency),
    },
    async ({ runInStages, backOffice, service, keys, origin, params, header, query: { amount } }) => {
      const opening = { number: params.number, pin: readPin(header('X-Voucher-Pin')) }
      const voucher = await runInStages<object>(({ stage }) => {
        const reading = { stage, service, keys, origin, isDryRun: false }
        return amount === undefined
          ? backOffice.lookUpVoucher(reading, opening)
          : backOffice.validateVoucher(reading, { ...opening, amount })
      })
      if (voucher instanceof ApiError) throw toQueryErrors(voucher)
      return { data: voucher }
    },
  ),

  post(
    '/vouchers/lookup',
    {
      operationId: 'lookUpVoucher',
      tag,
      role: 'visitor',
      policy: 'read',
      status: 200,
      isAudited: false,
      summary: 'Look up a voucher',
      description: pinDescription,
      headers: shopperHeader,
      body: VoucherOpening,
      countGuess: (tx, { keys, service, origin, body, isOtherRequest }) =>
        countReplayedGuess(tx, keys, service, { number: body.number, origin, isOther: isOtherRequest }),
      response: Voucher,
      errors: pinErrors,
    },
    async ({ backOffice, body, ...write }) => {
      const subject = buildPath(body.number)
      return mapCommitPhase(await backOffice.lookUpVoucher(write, body), voucher => toResult(voucher, subject))
    },
  ),

  post(
    '/vouchers/validate',
    {
      operationId: 'validateVoucher',
      tag,
      role: 'visitor',
      status: 200,
      isAudited: false,
      summary: 'Validate a voucher',
      description: `${validationDescription} ${pinDescription}`,
      headers: shopperHeader,
      body: VoucherValidation,
      countGuess: (tx, { keys, service, origin, body, isOtherRequest }) =>
        countReplayedGuess(tx, keys, service, { number: body.number, origin, isOther: isOtherRequest }),
      generated: ['validationId'],
      response: ValidatedVoucher,
      errors: validationErrors,
    },
    async ({ backOffice, body, ...write }) => {
      if (!/[1-9]/.test(body.amount))
        throw toApiError([{ pointer: '/amount', code: 'invalid_field', detail: '`amount` must be greater than 0.' }])
      const subject = buildPath(body.number)
      return mapCommitPhase(await backOffice.validateVoucher(write, body), voucher => toResult(voucher, subject))
    },
  ),

  ...lockMethods.map(([operationId, summary, define, description]) =>
    define(
      '/vouchers/:number/lock',
      {
        operationId,
        tag,
        role: 'visitor',
        repeatable: true,
        status: 200,
        summary,
        description,
        params: { number: numberParameter },
        headers: shopperHeader,
        body: VoucherLock,
        countGuess: async (tx, { keys, service, origin, params, body, isOtherRequest }) =>
          body.pin === undefined
            ? undefined
            : countReplayedGuess(tx, keys, service, { ...params, origin, isOther: isOtherRequest }),
        generated: ['validationId'],
        response: ReadVoucher,
        errors: [...validationErrors, 'validation_id_incorrect', 'rate_limited'],
      },
      async ({ backOffice, body, params, ...write }) => {
        throwIfAny(validateLock(body))
        const { number } = params
        const { pin, amount, validationId = '', lockSeconds = 3_600 } = body
        const proof = pin === undefined ? { validationId } : { pin, amount }
        const locked = await backOffice.lockVoucher(write, { number, lockSeconds, ...proof })
        return mapCommitPhase(locked, voucher => toResult(voucher, buildPath(number)))
      },
    ),
  ),

  post(
    '/vouchers',
    {
      operationId: 'issueVoucher',
      tag,
      summary: 'Issue a voucher',
      description:
        '201 with number and PIN. 202 with the status `pending` if the back office creates them later and sends them itself: `Location` is then the order. A retry with the same `Idempotency-Key` returns the same PIN.',
      body: VoucherInput,
      generated: ['number', 'pin', 'orderNumber'],
      response: IssuedVoucher,
      statuses: [201, 202],
      errors: ['voucher_not_configured', 'unknown_gateway', 'order_number_taken', 'back_office_error'],
    },
    async ({ backOffice, body, ...write }) =>
      mapCommitPhase(await backOffice.issueVoucher(write, body), issued => ({
        data: issued,
        subject: buildIssuedPath(issued),
        status: issued.status === 'pending' ? 202 : 201,
      })),
  ),
]

/** Checks that a lock has either `validationId` or `pin`, and `amount` only with `pin`. */
function validateLock({ validationId, pin, amount }: VoucherLock): FieldError[] {
  const bodyError = (detail: string): FieldError[] => [{ pointer: '', code: 'invalid_body', detail }]
  if ((validationId === undefined) === (pin === undefined)) return bodyError('Send either `validationId` or `pin`.')
  return amount !== undefined && pin === undefined ? bodyError('`amount` requires `pin`.') : []
}

/** Returns the PIN. A missing or impossible PIN is invalid and does not count as a wrong PIN. */
function readPin(header = '') {
  const detail = '`X-Voucher-Pin` must be the PIN, with 1 to 50 characters.'
  if (!header || header.length > 50) throwIfAny([{ parameter: 'X-Voucher-Pin', code: 'invalid_parameter', detail }])
  return header
}

/** Checks an amount in a query like one in a body. */
function validateAmount(amount: string, currency: string): FieldError[] {
  const decimals = getDecimals(currency)
  const units = parseAmount(amount, decimals)
  if (units !== undefined && units > 0n && canonical(units, decimals) === amount) return []
  const detail = `\`amount\` must be greater than 0, in ${currency} with ${decimals} decimals.`
  return [{ parameter: 'amount', code: 'invalid_parameter', detail }]
}

/** Converts field errors into errors of the query parameters with the same names. */
function toQueryErrors({ code, message, errors, members, headers }: ApiError) {
  const parameterErrors = errors.map(({ pointer, ...error }) => ({ parameter: pointer?.slice(1) ?? '', ...error }))
  return new ApiError(code, message, { errors: parameterErrors, members, headers })
}
