import { createHash } from 'node:crypto'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { importOrder, type Kind } from './accounts.ts'

/** The comparable cells of one line, or of one part of a record, with the units and the amount for the sums. */
export interface Said {
  cells: readonly (string | number | boolean | null | undefined)[]
  quantity?: number
  value?: string
}

/**
 * Lines, counted and summed up. The fingerprint is a sum over the lines' digests, so that two tallies are equal when the
 * same lines were counted, as often, in any order.
 */
export interface RunCounts {
  lines: number
  quantity: bigint
  value: bigint
  fingerprint: bigint
}

export type Tallies = Record<Kind, RunCounts>

const emptyTally = (): RunCounts => ({ lines: 0, quantity: 0n, value: 0n, fingerprint: 0n })

export const emptyTallies = () => Object.fromEntries(importOrder.map(kind => [kind, emptyTally()])) as Tallies

export function count(tally: RunCounts, { cells, quantity = 0, value = '0' }: Said) {
  tally.lines++
  tally.quantity += BigInt(quantity)
  tally.value += parseAmount(value, 2) ?? 0n
  const text = cells.map(cell => cell ?? '').join('\t')
  const digest = createHash('sha1').update(text).digest().readBigUInt64BE()
  tally.fingerprint = BigInt.asUintN(64, tally.fingerprint + digest)
}

export const sumOf = (first: RunCounts, other: RunCounts): RunCounts => ({
  lines: first.lines + other.lines,
  quantity: first.quantity + other.quantity,
  value: first.value + other.value,
  fingerprint: BigInt.asUintN(64, first.fingerprint + other.fingerprint),
})

/** Normalises an amount: "2.5" and "2.50" are equal. */
export const money = (text: string) => String(parseAmount(text, 2) ?? text)
