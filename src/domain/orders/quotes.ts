import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type FieldError, toApiError } from '../../errors/api-error.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import type { Service } from '../tenancy/service-settings.ts'
import { Currency, Id, LocalTime, Money, Nullable, Optional, Text } from '../values/fields.ts'
import { formatAmount, getDecimals } from '../values/money.ts'
import { formatLocalTime } from '../values/timestamp.ts'
import { Discount, DiscountInput } from './discounts.ts'
import { freight, type OrderInput, quantity, quoteId, sku } from './orders.ts'
import { sum, toMinorUnits } from './pricing.ts'

// Why a quote is not stored: contributing/decisions/0039-sealed-quotes.md.

/** Seconds for which an order can refer to a quote: time for the shopper to pay. */
const validSeconds = 1_800

const freightOptionId = Id('The freight option, from `GET /freight-options`.', '162')

/** The body of a request for a quote. */
export type OrderQuoteInput = Static<typeof OrderQuoteInput>
export const OrderQuoteInput = Type.Object(
  {
    customerId: Optional(Id('The shopper, whose loyalty discounts apply.', '65432')),
    lines: Type.Array(
      Type.Object(
        {
          sku,
          quantity,
          discounts: Optional(
            Type.Array(DiscountInput, {
              description: 'Your own discounts. The back office adds its promotions.',
              maxItems: 20,
            }),
          ),
        },
        { $id: 'QuoteLineInput', additionalProperties: false },
      ),
      { description: 'The items.', minItems: 1, maxItems: 200 },
    ),
    freight: Optional(freight),
    freightOptionId: Optional(freightOptionId),
  },
  { $id: 'OrderQuoteInput', additionalProperties: false },
)

/** A freight option of the back office with its price for a cart. */
const QuotedFreightOption = Type.Object(
  {
    id: freightOptionId,
    name: Text('The name of the option.', 'Standard'),
    amount: Money('The price of the option for these items.', '9.95'),
  },
  { $id: 'QuotedFreightOption', additionalProperties: false },
)

export type OrderQuote = Static<typeof OrderQuote>
export const OrderQuote = Type.Object(
  {
    quoteId,
    expiresAt: LocalTime('Until when an order can refer to the quote.'),
    currency: Currency,
    lines: Type.Array(
      Type.Object(
        {
          sku,
          quantity,
          price: Money('The price of one unit before discounts.', '29.99'),
          discounts: Type.Array(Discount, {
            description: 'Your own discounts, and those of the back office: `promotion`, `loyalty` and `coupon`.',
          }),
          value: Money('The amount due for the line.', '25.99'),
        },
        { $id: 'QuoteLine', additionalProperties: false },
      ),
    ),
    freight,
    freightOptionId: Nullable(freightOptionId),
    freightOptions: Type.Array(QuotedFreightOption, {
      description: 'The freight options for these items. Empty if the back office has none.',
    }),
    total: Money('Lines and freight. Taxes on top are added by the order.', '35.94'),
  },
  { $id: 'OrderQuote', additionalProperties: false },
)

/** The promotion (2), loyalty (3) or reserved coupon (5) of the back office that a discount comes from. */
type DiscountSource = { typeId: 2 | 3; id: string } | { typeId: 5; id: string; code: string }

type OwnDiscount = Static<typeof DiscountInput>
type QuotedDiscount = OwnDiscount & { source?: DiscountSource }

/** A line of an order. In an order with a quote, its price and discounts are those of the quote. */
type ResolvedLine = Omit<OrderInput['lines'][number], 'discounts'> & { discounts?: QuotedDiscount[] | null }

export interface QuotedLine extends ResolvedLine {
  price: string
  discounts: QuotedDiscount[]
}

interface QuoteContent {
  customerId: string | null
  lines: QuotedLine[]
  freight: string
  freightOption?: { id: string; name: string } | undefined
}

/** Builds the response of a quote. Its `quoteId` is the quote itself, encrypted and authenticated. */
export function createQuote(
  keys: Keys,
  service: Service,
  content: QuoteContent,
  freightOptions: OrderQuote['freightOptions'],
): OrderQuote {
  const { currency, timeZone } = service.settings
  const decimals = getDecimals(currency)
  const expires = Temporal.Now.instant().add({ seconds: validSeconds })
  const sealed = { ...content, expiresAt: expires.epochMilliseconds } satisfies SealedQuote
  const lines = content.lines.map(line => ({ ...line, minor: computeValue(line, decimals) }))
  const total = sum(lines.map(({ minor }) => minor)) + toMinorUnits(content.freight, decimals)
  return {
    quoteId: seal(keys, getContext(service), deflateRawSync(JSON.stringify(sealed)).toString('base64')).toString(
      'base64url',
    ),
    expiresAt: formatLocalTime(expires, timeZone),
    currency,
    lines: lines.map(({ sku: code, quantity: units, price, discounts, minor }) => ({
      sku: code,
      quantity: units,
      price,
      discounts: discounts.map(({ type, reason = null, amount, percentage = null }) => ({
        type,
        reason,
        amount,
        percentage,
      })),
      value: formatAmount(minor, decimals),
    })),
    freight: content.freight,
    freightOptionId: content.freightOption?.id ?? null,
    freightOptions,
    total: formatAmount(total, decimals),
  }
}

type SealedQuote = QuoteContent & { expiresAt: number }

// The currency, because amounts of another currency would be wrong after a change of the setting.
const getContext = ({ id, settings }: Service) => `quote ${id} ${settings.currency}`

function openQuote(keys: Keys, service: Service, id: string): SealedQuote | undefined {
  try {
    const text = unseal(keys, getContext(service), Buffer.from(id, 'base64url'))
    return JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString('utf8')) as SealedQuote
  } catch {
    return
  }
}

/** An order as it is placed. */
export type ResolvedOrder = Omit<OrderInput, 'lines'> & { lines: ResolvedLine[] }

/**
 * Returns the order with the lines, prices, discounts and freight of its quote, and errors of the order. An expired quote is an error,
 * too, but the order is still complete: an earlier attempt may have placed it in time. Without a quote, returns the order unchanged.
 */
export function resolveQuote(keys: Keys, service: Service, input: OrderInput) {
  if (!input.quoteId) return { input: input as ResolvedOrder, isQuoted: false, errors: [] }
  const quote = openQuote(keys, service, input.quoteId)
  if (!quote)
    throw toApiError([
      {
        pointer: '/quoteId',
        code: 'invalid_field',
        detail: '`quoteId` must be the result of `POST /orders/quote` in this service.',
      },
    ])
  const { lines, freightOption } = quote
  const errors = checkAgainstQuote(input, quote, getDecimals(service.settings.currency))
  if (quote.expiresAt <= Date.now())
    errors.push({
      pointer: '/quoteId',
      code: 'quote_expired',
      detail: `The quote expired at ${formatLocalTime(Temporal.Instant.fromEpochMilliseconds(quote.expiresAt), service.settings.timeZone)}.`,
    })
  return { input: { ...input, lines, freight: quote.freight }, isQuoted: true, freightOption, errors }
}

/** Returns an error for each part of an order that differs from its quote. */
function checkAgainstQuote(input: OrderInput, quote: QuoteContent, decimals: number): FieldError[] {
  const errors: FieldError[] = []
  const addError = (pointer: string, detail: string) => errors.push({ pointer, code: 'invalid_field', detail })
  const sumDiscounts = (lines: readonly ResolvedLine[]) =>
    sum(lines.flatMap(({ discounts }) => (discounts ?? []).map(({ amount }) => toMinorUnits(amount, decimals))))
  const countUnits = (lines: readonly ResolvedLine[]) => lines.reduce((units, line) => units + line.quantity, 0)
  if (quote.customerId !== null && quote.customerId !== input.customerId)
    addError('/customerId', `The quote is for customer ${quote.customerId}.`)
  for (const [code, quoted] of Map.groupBy(quote.lines, line => line.sku)) {
    const ordered = input.lines.filter(line => line.sku === code)
    const first = input.lines.findIndex(line => line.sku === code)
    if (countUnits(ordered) !== countUnits(quoted))
      addError(
        first < 0 ? '/lines' : `/lines/${first}/quantity`,
        `The quote has ${countUnits(quoted)} of ${code}, but the order has ${countUnits(ordered)}. Request another quote.`,
      )
    const price = ordered.find(line => typeof line.price === 'string')?.price
    if (typeof price === 'string' && !quoted.some(line => isSameAmount(line.price, price, decimals)))
      addError(`/lines/${first}/price`, `The quoted price of ${code} is ${quoted[0]?.price}.`)
    if (ordered.some(({ discounts }) => discounts?.length) && sumDiscounts(ordered) !== sumDiscounts(quoted))
      addError(
        `/lines/${first}/discounts`,
        `The quoted discounts of ${code} are ${formatAmount(sumDiscounts(quoted), decimals)} in total. Leave \`discounts\` out, or send those of the quote.`,
      )
  }
  const quotedSkus = new Set(quote.lines.map(line => line.sku))
  for (const [i, { sku: code }] of input.lines.entries())
    if (!quotedSkus.has(code)) addError(`/lines/${i}/sku`, `The quote has no ${code}. Request another quote.`)
  if (typeof input.freight === 'string' && !isSameAmount(input.freight, quote.freight, decimals))
    addError('/freight', `The quoted freight is ${quote.freight}. Leave \`freight\` out, or request another quote.`)
  return errors
}

const isSameAmount = (a: string, b: string, decimals: number) => toMinorUnits(a, decimals) === toMinorUnits(b, decimals)

/** Returns the value of a quoted line in minor units. */
export const computeValue = ({ price, quantity: units, discounts }: QuotedLine, decimals: number) =>
  toMinorUnits(price, decimals) * BigInt(units) - sum(discounts.map(({ amount }) => toMinorUnits(amount, decimals)))
