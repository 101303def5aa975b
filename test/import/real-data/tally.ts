import { createHash } from 'node:crypto'
import { minorUnits } from '../../../src/domain/money.ts'
import type { Kind } from './accounts.ts'

/** What one line of a feed says, or one part of a record. The sums are of what is sold, or in stock. */
export interface Said {
  cells: readonly (string | number | boolean | null | undefined)[]
  quantity?: number
  value?: string
}

/**
 * Counts lines and sums them up. The fingerprint is a sum over the lines' digests, so that two tallies are equal when the
 * same lines were counted, as often, in any order.
 */
export class Tally {
  lines = 0
  quantity = 0n
  value = 0n
  fingerprint = 0n

  add({ cells, quantity = 0, value = '0' }: Said) {
    this.lines++
    this.quantity += BigInt(quantity)
    this.value += minorUnits(value, 2) ?? 0n
    const text = cells.map(cell => cell ?? '').join('\t')
    const digest = createHash('sha1').update(text).digest().readBigUInt64BE()
    this.fingerprint = BigInt.asUintN(64, this.fingerprint + digest)
  }

  plus(other: Tally): Tally {
    const sum = new Tally()
    sum.lines = this.lines + other.lines
    sum.quantity = this.quantity + other.quantity
    sum.value = this.value + other.value
    sum.fingerprint = BigInt.asUintN(64, this.fingerprint + other.fingerprint)
    return sum
  }
}

export type Tallies = Record<Kind, Tally>

export const emptyTallies = (): Tallies => ({
  references: new Tally(),
  stores: new Tally(),
  'store-mapping': new Tally(),
  staff: new Tally(),
  products: new Tally(),
  'sku-mapping': new Tally(),
  stock: new Tally(),
  customers: new Tally(),
  'customer-mapping': new Tally(),
  transactions: new Tally(),
})

/** An amount as every writing of it is told: "2.5" and "2.50" are one. */
export const money = (text: string) => String(minorUnits(text, 2) ?? text)
