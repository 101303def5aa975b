import { createHash } from 'node:crypto'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { importOrder, type RealDataType } from './accounts.ts'

/** The comparable cells of a line or of a record's part, with the units and the amount for the sums. */
export interface Comparable {
  cells: readonly (string | number | boolean | null | undefined)[]
  quantity?: number
  value?: string
}

/**
 * Counts and sums of lines. The fingerprint is the sum of the lines' digests, so two tallies are equal if the same lines
 * were added equally often, in any order.
 */
export interface Tally {
  lines: number
  quantity: bigint
  value: bigint
  fingerprint: bigint
}

export type Tallies = Record<RealDataType, Tally>

const createTally = (): Tally => ({ lines: 0, quantity: 0n, value: 0n, fingerprint: 0n })

export const createTallies = () => Object.fromEntries(importOrder.map(kind => [kind, createTally()])) as Tallies

export function addToTally(tally: Tally, { cells, quantity = 0, value = '0' }: Comparable) {
  tally.lines++
  tally.quantity += BigInt(quantity)
  tally.value += parseAmount(value, 2) ?? 0n
  const text = cells.map(cell => cell ?? '').join('\t')
  const digest = createHash('sha1').update(text).digest().readBigUInt64BE()
  tally.fingerprint = BigInt.asUintN(64, tally.fingerprint + digest)
}

export const sumTallies = (first: Tally, other: Tally): Tally => ({
  lines: first.lines + other.lines,
  quantity: first.quantity + other.quantity,
  value: first.value + other.value,
  fingerprint: BigInt.asUintN(64, first.fingerprint + other.fingerprint),
})

/** Normalises an amount: "2.5" and "2.50" are equal. */
export const normalizeAmount = (text: string) => String(parseAmount(text, 2) ?? text)
