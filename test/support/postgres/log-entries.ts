import type { Db } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import {
  addEntry,
  createBlock,
  createDayPartition,
  isFull,
  type LogEntry,
  storeBlocks,
} from '../../../src/store/request-log/blocks.ts'

const dayMs = 86_400_000

/** Returns the time `days` days ago, in milliseconds since 1970. */
export const daysAgo = (days: number) => Date.now() - days * dayMs

/** Writes requests to the request log of a service, as the server does. Missing fields get usual values. */
export async function addLogEntries(db: Db, { id }: Pick<Service, 'id'>, lines: readonly Partial<LogEntry>[]) {
  const entries = lines.map(({ path = '/stores', ...line }) => ({
    at: Date.now(),
    requestId: crypto.randomUUID(),
    username: 'u',
    operation: 'GET /stores',
    path,
    subject: path,
    status: 200,
    code: undefined,
    keyHash: undefined,
    milliseconds: 1,
    statements: 1,
    databaseMs: 1,
    steps: [],
    isConsole: false,
    fields: [],
    ...line,
  }))
  const bySecond = Map.groupBy(entries, ({ at }) => new Date(at - (at % 1_000)).toISOString())
  const blocks = [...bySecond].flatMap(([second, own]) => {
    let block = createBlock(id, second)
    const filled = [block]
    for (const line of own) {
      if (isFull(block)) {
        block = createBlock(id, second)
        filled.push(block)
      }
      addEntry(block, line)
    }
    return filled
  })
  for (const day of new Set(blocks.map(({ second }) => second.slice(0, 10)))) await createDayPartition(db, day)
  await storeBlocks(db, blocks)
}
