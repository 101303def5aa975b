import type { Outcome } from './client.ts'

const operationTypes = ['customer', 'change', 'order', 'return', 'voucherSale', 'lock'] as const
export type OperationType = (typeof operationTypes)[number]

/** The fields of a created or changed record that checks read. */
export interface WrittenRecord {
  id?: string
  orderNumber?: string | null
  number?: string | null
  pin?: string | null
}

/** One write of a shopper, with its final outcome. */
export interface Operation {
  type: OperationType
  /** Unique name of the write, and its Idempotency-Key. The record that it creates contains it. */
  key: string
  /** ID of the customer that was changed, or of the order that was returned. */
  target?: string
  /** The new value of a change. */
  value?: string
  /** True if a voucher pays a part of the order. */
  drawsOnVoucher?: boolean
  outcome: Outcome<WrittenRecord>
  /** Sends the same request with the same key again; absent if the request has no key. */
  repeat?: () => Promise<Outcome<WrittenRecord>>
}

/** True if the client received an acknowledgement. */
export const isAcknowledged = ({ outcome: { status } }: Operation) => status >= 200 && status < 300

/** Records all operations of a run, and contradictory responses. Shared by all shoppers. */
export class History {
  readonly operations: Operation[] = []
  /** Keys of the operations that were acknowledged. */
  readonly acknowledgedKeys = new Set<string>()
  /** Operations without a result, and why. */
  readonly withoutResult: string[] = []
  readonly contradictions: string[] = []
  /** Number of attempts that left the result open, by error code. */
  readonly retries = new Map<string, number>()
  readonly #bodies = new Map<string, string>()

  of(type: OperationType): Operation[] {
    return this.operations.filter(operation => operation.type === type)
  }

  acknowledged(type: OperationType): Operation[] {
    return this.of(type).filter(isAcknowledged)
  }

  /** True if the client received an acknowledgement of each type of operation, and of an order that draws on a voucher. */
  hasEachType(): boolean {
    const acknowledged = this.operations.filter(isAcknowledged)
    return (
      operationTypes.every(type => acknowledged.some(operation => operation.type === type)) &&
      acknowledged.some(({ drawsOnVoucher }) => drawsOnVoucher)
    )
  }

  record(operation: Operation) {
    this.operations.push(operation)
    if (isAcknowledged(operation)) this.acknowledgedKeys.add(operation.key)
  }

  countRetry(code: string) {
    this.retries.set(code, (this.retries.get(code) ?? 0) + 1)
  }

  /** Compares the body of each successful response with the first one to the same key, byte by byte. */
  recordResponse(key: string, body: string) {
    const first = this.#bodies.get(key)
    if (first === undefined) this.#bodies.set(key, body)
    else if (first !== body) this.contradictions.push(`${key} had two different responses`)
  }
}
