import { toWall } from '../shop/clock.ts'
import { parseRelease } from './release.ts'

/** A country code, which selects a web store with its currency. */
export interface Country {
  code: string
  currency: string
  /** The factor between this country's prices and those of the first country. */
  priceFactor: number
  taxPercent: number
  /** The error code of every call while this country is misconfigured: 5030, 5031 or 5036. */
  problem?: number
}

/** Settings that can be changed while the simulator runs. */
export interface Settings {
  release: string
  /** The virtual directory, with a leading and no trailing slash. */
  base: string
  /** The time zone of Apparel21. Times without a zone are in this time zone. */
  zone: string
  /** Null if requests need no credentials. */
  credentials: { user: string; password: string } | null
  countries: Country[]
  /** The response to a call without a country code. The response of the real API is unknown. */
  missingCountryCode: { status: number; code: number }
  /** Posted elements out of order are rejected with 5121, silently dropped (as .NET can do), or accepted. */
  elementOrder: 'strict' | 'drop' | 'any'
  /** The change timestamp after two writes of a person in one second: it advances by a second, or stays the same. */
  timestamps: 'bump' | 'keep'
  /** The response to a page past the end: 200 with an empty body, 404 with 5008, or an empty list. */
  pastEnd: 'empty' | '5008' | 'list'
  /** True if `updatedAfter` includes changes of the same second. */
  updatedAfter: 'after' | 'from'
  /** The root element of a search that finds one person. */
  onePersonRoot: 'Persons' | 'Person'
  transactionStoreCode: 'number' | 'code'
  returnStatus: 200 | 201
  /** Reference types that every person must have (5091). */
  mandatoryPersonReferences: number[]
  /** The payment gateways (SPayGate) that payments can have. */
  merchantIds: string[]
  /** Seconds from an order until its vouchers get their numbers and PINs and are emailed. */
  voucherSeconds: number
}

export const defaultSettings: Settings = {
  release: '2025.1',
  base: '/RetailAPI',
  zone: 'Australia/Melbourne',
  credentials: null,
  countries: [
    { code: 'AU', currency: 'AUD', priceFactor: 1, taxPercent: 10 },
    { code: 'NZ', currency: 'NZD', priceFactor: 1.1, taxPercent: 15 },
  ],
  missingCountryCode: { status: 403, code: 5029 },
  elementOrder: 'strict',
  timestamps: 'bump',
  pastEnd: 'empty',
  updatedAfter: 'after',
  onePersonRoot: 'Persons',
  transactionStoreCode: 'number',
  returnStatus: 201,
  mandatoryPersonReferences: [],
  merchantIds: ['SIMPAY', 'PAYPAL', 'AFTERPAY'],
  voucherSeconds: 30,
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isOneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value)
const succeeds = (attempt: () => unknown) => {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
const isCountry = (value: unknown) =>
  isObject(value) &&
  typeof value.code === 'string' &&
  typeof value.currency === 'string' &&
  typeof value.priceFactor === 'number' &&
  typeof value.taxPercent === 'number' &&
  (value.problem === undefined || Number.isInteger(value.problem))

const validators: Record<keyof Settings, (value: unknown) => boolean> = {
  release: value => succeeds(() => parseRelease(String(value))),
  base: value => typeof value === 'string' && /^(\/[\w.-]+)+$/.test(value),
  zone: value => typeof value === 'string' && succeeds(() => toWall(0, value)),
  credentials: value =>
    value === null || (isObject(value) && typeof value.user === 'string' && typeof value.password === 'string'),
  countries: value => Array.isArray(value) && value.length > 0 && value.every(isCountry),
  missingCountryCode: value => isObject(value) && Number.isInteger(value.status) && Number.isInteger(value.code),
  elementOrder: isOneOf('strict', 'drop', 'any'),
  timestamps: isOneOf('bump', 'keep'),
  pastEnd: isOneOf('empty', '5008', 'list'),
  updatedAfter: isOneOf('after', 'from'),
  onePersonRoot: isOneOf('Persons', 'Person'),
  transactionStoreCode: isOneOf('number', 'code'),
  returnStatus: isOneOf(200, 201),
  mandatoryPersonReferences: value => Array.isArray(value) && value.every(Number.isInteger),
  merchantIds: value => Array.isArray(value) && value.every(id => typeof id === 'string'),
  voucherSeconds: value => typeof value === 'number' && value >= 0,
}

/** Changes some settings. Throws a TypeError and changes none if one is unknown or invalid. */
export function changeSettings(settings: Settings, changes: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(changes)) {
    const accepts = Object.hasOwn(validators, name) ? validators[name as keyof Settings] : undefined
    if (!accepts) throw new TypeError(`Setting ${name} not found. Settings are ${Object.keys(validators).join(', ')}`)
    if (!accepts(value)) throw new TypeError(`${name} can't be ${JSON.stringify(value)}`)
  }
  Object.assign(settings, changes)
}
